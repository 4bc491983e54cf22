// SPDX-License-Identifier: MIT
#include "runtime/base/log.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <thread>
#include <unistd.h>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/base/secrets.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

// 2026-01-31T09:30:00.123456Z
constexpr wall_time at{1'769'851'800'123'456};

// What `f` writes to stderr.
template <class F>
std::string stderr_of(F f) {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  std::fflush(stderr);
  const int saved = ::dup(STDERR_FILENO);
  ::dup2(::fileno(file), STDERR_FILENO);
  f();
  std::fflush(stderr);
  ::dup2(saved, STDERR_FILENO);
  ::close(saved);
  std::rewind(file);
  std::string result;
  std::array<char, 4096> buffer{};
  while (const auto n = std::fread(buffer.data(), 1, buffer.size(), file))
    result.append(buffer.data(), n);
  std::fclose(file);
  return result;
}

// Puts the defaults back at the end of a test.
struct default_log {
  ~default_log() { init_log("warn", "text"); }
};

}  // namespace

TEST_CASE("a text line says when, how bad, where and what") {
  CHECK(render_log_line(log_format::text, at, log_level::warn, "node.join",
                        "no answer from 10.0.0.5") ==
        "2026-01-31T09:30:00.123456Z warn node.join: no answer from"
        " 10.0.0.5");
}

TEST_CASE("a message cannot begin a line of its own") {
  CHECK(render_log_line(log_format::text, {0}, log_level::info, "a\nb",
                        "x\r\ny\x1b[31m") ==
        "1970-01-01T00:00:00.000000Z info a b: x  y [31m");
}

TEST_CASE("no byte of a message is obeyed by a terminal") {
  CHECK(render_log_line(log_format::text, {0}, log_level::info, "a",
                        "\xff\x9b"
                        "31m \xc2\x9b"
                        "31m \xc3\xa9") ==
        "1970-01-01T00:00:00.000000Z info a: \xEF\xBF\xBD\xEF\xBF\xBD"
        "31m  31m \xc3\xa9");
}

TEST_CASE("a JSON line is one object, whatever the message holds") {
  const auto line = render_log_line(log_format::json, at, log_level::error,
                                    "tool.bash", "say \"hi\"\n\xff");
  CHECK(line.find('\n') == std::string::npos);
  const auto x = nlohmann::json::parse(line);
  CHECK(x.size() == 4);
  CHECK(x.at("timestamp") == "2026-01-31T09:30:00.123456Z");
  CHECK(x.at("level") == "error");
  CHECK(x.at("op") == "tool.bash");
  CHECK(x.at("message") == "say \"hi\"\n\xEF\xBF\xBD");
}

TEST_CASE("only what is bad enough is written, to stderr") {
  default_log guard;
  const auto all = [] {
    log_debug("op", "one");
    log_info("op", "two");
    log_warn("op", "three");
    log_error("op", "four");
  };
  const auto lines = [&](std::string_view level) {
    init_log(level, "text");
    const auto text = stderr_of(all);
    return std::count(text.begin(), text.end(), '\n');
  };
  CHECK(lines("trace") == 4);
  CHECK(lines("debug") == 4);
  CHECK(lines("info") == 3);
  CHECK(lines("warn") == 2);
  CHECK(lines("error") == 1);
  CHECK(lines("off") == 0);
  CHECK(lines("nonsense") == 3);
}

TEST_CASE("the format can be changed while threads write") {
  default_log guard;
  init_log("info", "json");
  const auto text = stderr_of([] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([] {
        for (int n = 0; n < 50; ++n) log_info("op", "message");
      });
    for (int n = 0; n < 50; ++n) init_log("info", n % 2 ? "json" : "text");
    for (auto& t : threads) t.join();
  });
  CHECK(std::count(text.begin(), text.end(), '\n') == 200);
  CHECK(text.find("message") != std::string::npos);
}

TEST_CASE("marks that turn a line of the log are shown as what they are") {
  const auto line = render_log_line(log_format::text, {}, log_level::warn,
                                    "mcp", "a\u202Eb\u2066c\u2028d\u200Fe – ü");
  CHECK(line.find("a\\u{202e}b\\u{2066}c\\u{2028}d\\u{200f}e – ü") !=
        std::string::npos);
}

TEST_CASE("levels and formats come back from their texts") {
  for (auto text : {"trace", "debug", "info", "warn", "error", "off"}) {
    REQUIRE(parse_log_level(text));
    CHECK(to_string(*parse_log_level(text)) == text);
  }
  CHECK_FALSE(parse_log_level("loud"));
  CHECK(parse_log_format("text") == log_format::text);
  CHECK(parse_log_format("json") == log_format::json);
  CHECK_FALSE(parse_log_format("xml"));
}

TEST_CASE("lines can be given to somebody else, and then to nobody else") {
  default_log guard;
  init_log("info", "json");
  std::vector<std::string> seen;
  set_log_sink([&](const log_line& x) {
    seen.push_back(std::string{x.op} + "|" + std::string{x.message} + "|" +
                   std::string{to_string(x.level)});
    CHECK(nlohmann::json::parse(render(x)).at("op") == "a");
    throw 1;  // stops nothing
  });
  const auto text = stderr_of([] {
    log_debug("a", "not heard");
    log_info("a", "heard");
    log_error("a", "heard too");
  });
  set_log_sink({});
  CHECK(text.empty());
  CHECK(seen == std::vector<std::string>{"a|heard|info", "a|heard too|error"});
  CHECK(stderr_of([] { log_warn("a", "back"); }).find("back") !=
        std::string::npos);
}

TEST_CASE("no field of a line shows a key") {
  default_log guard;
  init_log("info", "json");
  add_secret("sk-canary-of-fields");
  const auto text = stderr_of([] {
    log_about(log_level::info, "a", "begins",
              {{"run_id", "run_1"}, {"tool", "sk-canary-of-fields"}});
  });
  CHECK(text.find("canary") == std::string::npos);
  CHECK(nlohmann::json::parse(text).at("tool") == "***");
  CHECK(nlohmann::json::parse(text).at("run_id") == "run_1");
}

TEST_CASE("a line that a sink causes goes to standard error") {
  default_log guard;
  init_log("info", "text");
  int seen = 0;
  set_log_sink([&](const log_line&) {
    ++seen;
    log_info("b", "of the sink");
  });
  const auto text = stderr_of([] { log_info("a", "heard"); });
  const auto more = stderr_of([] { log_info("a", "heard again"); });
  set_log_sink({});
  CHECK(seen == 2);
  CHECK(text.find("of the sink") != std::string::npos);
  CHECK(text.find("heard") == std::string::npos);
  CHECK(more.find("of the sink") != std::string::npos);
}

TEST_CASE("it is known before whether a line is written") {
  default_log guard;
  init_log("info", "text");
  CHECK(log_enabled(log_level::info));
  CHECK_FALSE(log_enabled(log_level::debug));
}
