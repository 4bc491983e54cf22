// SPDX-License-Identifier: MIT
// The first `riffle` of somebody who has configured nothing, at a terminal.
#include <fstream>
#include <sstream>

#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_server.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using Catch::Matchers::Contains;

namespace {

constexpr auto two_calls =
    R"(data: {"choices":[{"index":0,"delta":{"tool_calls":[)"
    R"({"index":0,"id":"a","function":{"name":"note_city","arguments":"{\"city\":\"Oslo\"}"}},)"
    R"({"index":1,"id":"b","function":{"name":"note_city","arguments":"{\"city\":\"Rome\"}"}}]},)"
    R"("finish_reason":"tool_calls"}]})"
    "\n\n";

constexpr auto hello =
    R"(data: {"choices":[{"index":0,"delta":{"content":"Hello to you."},)"
    R"("finish_reason":"stop"}]})"
    "\n\n";

http_reply provider(const http_request& request) {
  if (request.target == "/api/tags")
    return http_reply::json(R"({"models":[{"name":"qwen3"}]})");
  if (request.method == "GET")
    return http_reply::json(
        R"({"data":[{"id":"small"},{"id":"large"},{"id":"larger"}]})");
  return respond_sse(
      request.body.find("note_city") != std::string::npos ? two_calls : hello);
}

std::string content(const std::filesystem::path& file) {
  std::ostringstream out;
  out << std::ifstream{file}.rdbuf();
  return out.str();
}

/// A home without a configuration, a key of groq, and an ollama.
struct newcomer {
  http_server server{provider};
  temp_folder home;
  scoped_env at_home{"HOME", home.path()};
  scoped_env state{"XDG_STATE_HOME", {}};
  scoped_env data{"XDG_DATA_HOME", {}};
  scoped_env config{"XDG_CONFIG_HOME", {}};
  scoped_env named{"RIFFLE_CONFIG", ""};
  scoped_env openai{"OPENAI_API_KEY", {}};
  scoped_env key{"GROQ_API_KEY", "gsk-canary-1"};
  scoped_env place{"GROQ_BASE_URL", server.url("/v1")};
  scoped_env ollama{"OLLAMA_HOST", server.url("")};
  std::filesystem::path file = home.path() / ".config/riffle/riffle.toml";
};

}  // namespace

TEST_CASE("the first riffle asks two questions, then talks") {
  if (!has_terminals()) return skip(no_terminals);
  const newcomer x;
  terminal_program riffle{x.home.path(), {"chat", "--no-color"}, 100};
  REQUIRE(riffle.read_next("Which one? [1] > "));
  CHECK_THAT(riffle.written(),
             Contains("1  groq (key in $GROQ_API_KEY, at ") &&
                 Contains("2  ollama (running here, 1 model, at "));
  riffle.type("groq\n");
  REQUIRE(riffle.read_next("Which model? [1] > "));
  CHECK_THAT(riffle.written(), Contains("3  larger"));
  // A part of two names is asked about again, with these two.
  riffle.type("LARGE\n");
  REQUIRE(riffle.read_next("2  larger"));
  REQUIRE(riffle.read_next("Which model? [1] > "));
  riffle.type("none\n");
  REQUIRE(riffle.read_next("None of them"));
  REQUIRE(riffle.read_next("Which model? [1] > "));
  riffle.type("2\n");
  REQUIRE(riffle.read_next("It works."));
  CHECK_THAT(content(x.file), Contains("provider = \"groq\"") &&
                                  Contains("model = \"larger\"") &&
                                  !Contains("canary"));
  REQUIRE(riffle.read_next("/help shows what can be typed."));
  riffle.type("hello\r");
  REQUIRE(riffle.read_next("Hello to you."));
  riffle.type("\x04");
  CHECK(riffle.finish() == 0);
  CHECK_THAT(riffle.written(), !Contains("canary"));
  // Never again.
  terminal_program again{x.home.path(), {"chat", "--no-color"}, 100};
  REQUIRE(again.read_next("/help shows what can be typed."));
  REQUIRE(again.read_next("> "));  // a Ctrl-D before that is nobody's
  again.type("\x04");
  CHECK(again.finish() == 0);
  CHECK_THAT(again.written(), !Contains("Which one?"));
}

TEST_CASE("who answers no question gets no file") {
  if (!has_terminals()) return skip(no_terminals);
  const newcomer x;
  terminal_program riffle{x.home.path(), {"init"}, 100};
  REQUIRE(riffle.read_next("Which one? [1] > "));
  riffle.type("\x04");
  CHECK(riffle.finish() != 0);
  CHECK_FALSE(std::filesystem::exists(x.file));
}

TEST_CASE("what a model said instead of a call is wrapped at words") {
  if (!has_terminals()) return skip(no_terminals);
  http_server talker{[](const http_request& request) {
    if (request.method == "GET") return provider(request);
    return respond_sse(
        R"(data: {"choices":[{"index":0,"delta":{"content":"I cannot note )"
        R"(cities down for you, since that is nothing I was made for, sorry."},)"
        R"("finish_reason":"stop"}]})"
        "\n\n");
  }};
  const newcomer x;
  const scoped_env at{"GROQ_BASE_URL", talker.url("/v1")};
  terminal_program riffle{
      x.home.path(), {"init", "--provider", "groq", "--model", "small"}, 60};
  riffle.finish();
  terminal_picture picture{60};
  picture.feed(riffle.written());
  CHECK_THAT(
      picture.text(),
      Contains("  tools       no: it said: I cannot note cities down for\n"
               "              you, since that is nothing I was made for,\n"
               "              sorry.\n"));
}

TEST_CASE("who has a key and a server alone is told where models are chosen") {
  if (!has_terminals()) return skip(no_terminals);
  const newcomer x;
  const scoped_env key{"OPENAI_API_KEY", "sk-canary-2"};
  const std::string hint = "riffle init chooses among its models.";
  const auto chat = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"chat", "--no-color"});
    terminal_program riffle{x.home.path(), more, 100};
    REQUIRE(riffle.read_next("/help shows what can be typed."));
    REQUIRE(riffle.read_next("> "));
    riffle.type("\x04");
    CHECK(riffle.finish() == 0);
    return riffle.written();
  };
  CHECK_THAT(chat({}), !Contains(hint));  // the provider's own server
  const scoped_env place{"OPENAI_BASE_URL", x.server.url("/v1")};
  CHECK_THAT(chat({}), Contains("$OPENAI_BASE_URL: " + hint));
  CHECK_THAT(chat({"-m", "openai/small"}), !Contains(hint));
}
