// SPDX-License-Identifier: MIT
// More than one question: what was typed for one is no answer to the next, what
// covers those that wait settles them, and the others are told of meanwhile.
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_server.hpp"
#include "tests/support/skip.hpp"

using nlohmann::json;
using riffle::testing::http_reply;
using riffle::testing::http_request;
using riffle::testing::http_server;
using riffle::testing::temp_folder;
using riffle::testing::terminal_picture;
using riffle::testing::terminal_program;

namespace {

constexpr auto prompt = "[?] > ";  // the rest may be wrapped

std::string piece(const json& delta, const json& reason) {
  return "data: " +
         json{{"id", "1"},
              {"object", "chat.completion.chunk"},
              {"model", "m"},
              {"choices",
               {{{"index", 0}, {"delta", delta}, {"finish_reason", reason}}}}}
             .dump() +
         "\n\n";
}

std::string said(const std::string& text) {
  return piece({{"content", text}}, nullptr) + piece(json::object(), "stop") +
         "data: [DONE]\n\n";
}

/// One call of the tool for each of the arguments.
std::string calls(const std::string& tool, const std::vector<json>& arguments) {
  auto all = json::array();
  for (const auto& x : arguments)
    all.push_back({{"index", all.size()},
                   {"id", "call_" + std::to_string(all.size())},
                   {"type", "function"},
                   {"function", {{"name", tool}, {"arguments", x.dump()}}}});
  return piece({{"tool_calls", all}}, nullptr) +
         piece(json::object(), "tool_calls") + "data: [DONE]\n\n";
}

std::string writes(const std::string& name) {
  return calls("write", {json{{"path", name}, {"content", "y"}}});
}

std::string reads(int times) {
  std::vector<json> all;
  for (int i = 1; i <= times; ++i)
    all.push_back({{"path", "riffle.toml"}, {"offset", i}});
  return calls("read", all);
}

/// A task that has the name of a file writes it; "hangs" hangs.
http_reply play(const http_request& x) {
  if (x.body.find("it hangs") != std::string::npos)
    return http_reply::sse().stall("on").send(said("Late."));
  if (x.body.find(R"("role":"tool")") != std::string::npos)
    return http_reply::sse().send(said("Done."));
  if (x.body.find("reads a lot") != std::string::npos)
    return http_reply::sse().send(reads(6));
  for (const auto* name : {"one", "two", "three"})
    if (x.body.find(std::string{"writes "} + name) != std::string::npos)
      return http_reply::sse().send(writes(name));
  return http_reply::sse().send(said("What?"));
}

struct place {
  place() {
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\nbase_url = \"" +
                     server.url("/v1") + "\"\nmodel = \"m\"\n");
  }
  [[nodiscard]] bool has(const std::string& name) const {
    return std::filesystem::exists(folder.path() / name);
  }
  http_server server{play};
  temp_folder folder;
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1))
    ++n;
  return n;
}

std::string picture_of(const terminal_program& x, std::size_t columns) {
  terminal_picture out{columns};
  out.feed(x.written());
  return out.text();
}

}  // namespace

TEST_CASE("a quick second key leaves the next question open, and unanswered") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place at;
  terminal_program riffle{
      at.folder.path(), {"run", "writes one", "writes two"}, 100};
  REQUIRE(riffle.read_next("[?] > "));
  std::this_thread::sleep_for(std::chrono::seconds{1});  // both wait
  riffle.type("y");
  SECTION("the answer once more") {
    std::this_thread::sleep_for(std::chrono::milliseconds{150});
    riffle.type("y");
  }
  SECTION("Enter, the habit of everybody") {
    std::this_thread::sleep_for(std::chrono::milliseconds{200});
    riffle.type("\r");
  }
  SECTION("keys that take back what is not there") {
    REQUIRE(riffle.read_next("[APPROVAL]"));
    for (const auto* keys : {"\x7f", "\x15", "\x1b", "\x1b[A", "\r"})
      riffle.type(keys);
  }
  // The first one is gone, and the second takes keys, if only by and by.
  std::this_thread::sleep_for(std::chrono::milliseconds{1500});
  CHECK(at.has("one") != at.has("two"));
  riffle.type("y");
  CHECK(riffle.finish() == 0);
  CHECK(at.has("one"));
  CHECK(at.has("two"));
}

TEST_CASE("what is always approved is not asked about in other tasks") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place at;
  terminal_program riffle{
      at.folder.path(),
      {"run", "--no-color", "writes one", "writes two", "writes three"},
      100};
  REQUIRE(riffle.read_next(prompt));
  REQUIRE(riffle.read_next("2 more questions"));
  REQUIRE(riffle.read_next(prompt));
  riffle.answer("a");
  REQUIRE(riffle.read_next("[b]ack > "));
  SECTION("of every session of this folder") {
    riffle.answer("T");
    CHECK(riffle.finish() == 0);
    const auto picture = picture_of(riffle, 100);
    CAPTURE(picture);
    CHECK(count(picture, "Not asked, always for write (prop_") == 2);
    CHECK(at.has("one"));
    CHECK(at.has("two"));
    CHECK(at.has("three"));
  }
  SECTION("of this session: that is this task's alone") {
    riffle.answer("t");
    REQUIRE(riffle.read_next("1 more question"));
    REQUIRE(riffle.read_next(prompt));
    CHECK(count(riffle.written(), "Not asked") == 0);
  }
}

TEST_CASE("a question leaves the sum of what goes on") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place at;
  terminal_program riffle{at.folder.path(),
                          {"run", "--no-color", "--workers", "3", "writes one",
                           "it hangs", "writes two", "it hangs, too"},
                          80};
  terminal_picture picture{80};
  std::size_t fed = 0;
  const auto now = [&] {
    picture.feed(riffle.written().substr(fed));
    fed = riffle.written().size();
    return picture.text();
  };
  REQUIRE(riffle.read_next("1 more question"));
  REQUIRE(riffle.read_next(prompt));
  CHECK(now().find("\n0/4 ended, 1 works, 1 more question, 1 waits — ") !=
        std::string::npos);
  // The time goes on, and stands there once.
  REQUIRE(riffle.read_next("0/4 ended"));
  REQUIRE(riffle.read_next(prompt));
  CHECK(count(now(), "0/4 ended") == 1);
  for (const unsigned short columns : {60, 110, 50, 80}) {
    CAPTURE(columns);
    riffle.resize(columns);
    picture.resize(columns);
    REQUIRE(riffle.read_next("0/4 ended"));
    REQUIRE(riffle.read_next(prompt));
    REQUIRE(riffle.read_next(prompt));
    const auto text = now();
    CAPTURE(text);
    CHECK(count(text, "0/4 ended") == 1);
    CHECK(count(text, "Run it?") == 1);
    CHECK(count(text, "[APPROVAL]") == 1);
  }
  riffle.answer("n");
  REQUIRE(riffle.read_next("Why not?"));
  CHECK(count(now(), "0/4 ended") == 1);
}

TEST_CASE("behind a stop no other question of its task is asked") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const place at;
  const bool several = GENERATE(false, true);
  CAPTURE(several);
  std::vector<std::string> line{"run", "--no-color", "--set",
                                "tools.read.approval=ask"};
  line.emplace_back("reads a lot");
  if (several) line.emplace_back("writes two");
  terminal_program riffle{at.folder.path(), line, 100};
  if (several) REQUIRE(riffle.read_next("6 more questions"));
  REQUIRE(riffle.read_next(prompt));
  // Which of the two asks first is the machine's choice.
  const bool other_first =
      picture_of(riffle, 100).find("[APPROVAL] [2/2]") != std::string::npos;
  if (other_first) {
    riffle.answer("y");
    REQUIRE(riffle.read_next("[APPROVAL] [1/2]"));
    REQUIRE(riffle.read_next(prompt));
  }
  riffle.answer("s");
  if (several && !other_first) {
    REQUIRE(riffle.read_next("[APPROVAL] [2/2]"));
    REQUIRE(riffle.read_next(prompt));
    riffle.answer("y");
  }
  CHECK(riffle.finish() == 130);
  const auto picture = picture_of(riffle, 100);
  CAPTURE(picture);
  CHECK(count(picture, "[APPROVAL]") == (several ? 2 : 1));
  CHECK(at.has("two") == several);
}
