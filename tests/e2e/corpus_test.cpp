// SPDX-License-Identifier: MIT
// Recorded provider streams through real sockets and the whole runtime.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "runtime/api/riffle.hpp"
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace std::chrono_literals;
using nlohmann::json;
namespace rt = riffle::testing;
namespace fs = std::filesystem;

namespace {

fs::path corpus() {
  if (const char* named = std::getenv("RIFFLE_CORPUS")) return named;
  return fs::path{RIFFLE_SOURCE_DIR} / ".." / "shared" / "corpus";
}

std::string slurp(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

rt::http_reply play(const std::string& body, std::size_t piece) {
  auto reply = rt::http_reply::sse().send(body);
  return piece == 0 ? reply : std::move(reply).pieces(piece);
}

/// What the runtime understood of the stream.
struct understood {
  std::string text;
  std::string reasoning;
  std::vector<std::pair<std::string, json>> calls;
  json usage;
};

understood run(const std::string& body, std::size_t piece) {
  int number = 0;
  rt::http_server server{[&](const rt::http_request&) {
    return number++ == 0 ? play(body, piece)
                         : rt::respond_sse(rt::answer("end"));
  }};
  riffle::config::config c;
  c.models["default"].base_url = server.url("/v1");
  c.models["default"].retry.max_attempts = 1;
  c.agents["default"].tools.clear();
  c.publish.batching = "token";
  riffle::runtime_options options;
  options.journal = riffle::storage::make_memory_journal();
  auto runtime = riffle::runtime::create(std::move(c), std::move(options));
  REQUIRE(runtime);
  auto started = runtime->start({.task = "go"});
  REQUIRE(started);
  auto stream = started->events();
  std::string log;
  while (auto batch = stream.next(30s)) log += batch->lines();
  understood out;
  for (const auto& e : rt::checked_events(log)) {
    const auto& data = e.at("data");
    if (data.value("step", 1) != 1) continue;
    const auto type = e.at("event_type").get<std::string>();
    if (type == "llm_token") out.text += data.at("content");
    if (type == "llm_reasoning") out.reasoning += data.at("content");
    if (type == "usage") out.usage = data;
    if (type == "tool_call")
      out.calls.emplace_back(data.at("tool"), data.at("arguments").is_null()
                                                  ? data.at("arguments_text")
                                                  : data.at("arguments"));
  }
  return out;
}

}  // namespace

TEST_CASE("recorded streams are understood through real sockets") {
  const auto index_text = slurp(corpus() / "index.json");
  if (index_text.empty()) {
    rt::skip("the corpus is not there");
    return;
  }
  int passed = 0;
  const auto index = json::parse(index_text);
  for (const auto& file : index.at("files")) {
    if (file.at("protocol").get<std::string>() != "openai-chat") continue;
    const auto& want = file.at("expected");
    if (want.is_null() || want.at("outcome") != "complete" ||
        !want.contains("refusal") || file.at("bytes") > 20'000)
      continue;
    const auto name = file.at("file").get<std::string>();
    const auto body = slurp(corpus() / name);
    for (const std::size_t piece : {0, 1, 7, 64}) {
      INFO(name << " in pieces of " << piece);
      const auto got = run(body, piece);
      const auto text = [&](const char* key) {
        return want.contains(key) && want[key].is_string()
                   ? want[key].get<std::string>()
                   : std::string{};
      };
      CHECK(got.text == text("text") + text("refusal"));
      CHECK(got.reasoning == text("reasoning"));
      std::vector<std::pair<std::string, json>> calls;
      for (const auto& c : want.at("tool_calls")) {
        const std::string raw = c.at("arguments_raw");
        const auto object =
            json::parse(raw.empty() ? "{}" : raw, nullptr, false);
        calls.emplace_back(c.at("name"),
                           object.is_object() ? object : json(raw));
      }
      CHECK(got.calls == calls);
      if (want.at("usage").is_object()) {
        CHECK(got.usage.at("input_tokens") == want["usage"].at("input"));
        CHECK(got.usage.at("output_tokens") == want["usage"].at("output"));
      }
      ++passed;
    }
  }
  std::printf("corpus over sockets: %d passed\n", passed);
  CHECK(passed > 100);
}
