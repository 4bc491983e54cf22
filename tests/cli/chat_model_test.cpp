// SPDX-License-Identifier: MIT
// What a conversation has: its model, those that the server lists, its tools.
#include <filesystem>
#include <fstream>

#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_server.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::temp_folder;
using riffle::testing::terminal_program;

TEST_CASE("a conversation that no runtime can be had for ends and says so") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  folder.write("s.toml", "[[steps]]\ntext = \"You said: {{task}}\"\n");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n");
  terminal_program at{folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next("/help shows"));
  std::filesystem::rename(folder.path() / "data", folder.path() / "away");
  folder.write("data", "no folder");
  at.type("/model ollama/some\r");
  REQUIRE(at.read_next("The conversation ends: neither this model"));
  CHECK(at.finish() == 1);
}

TEST_CASE("a server that asks for a long wait is said to") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  // A transport cuts what is more than 24 h.
  const auto [wait, told] = GENERATE(
      table<std::string, std::string>({{"100000s", "27h 46m"},
                                       {"82800s", "23h 00m"},
                                       {"86400s", "at least 24h 00m"}}));
  folder.write("s.toml",
               "[[steps]]\nerror = { status = 429, message = \"slow down\", "
               "retry_after = \"" +
                   wait + "\" }\n");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n");
  terminal_program at{folder.path(), {"run", "--no-color", "go"}, 110};
  CHECK(at.read_next("slow down; the server asks to wait " + told));
  CHECK(at.finish() == 1);
}

TEST_CASE("what the server lists is known by its name alone from then on") {
  using namespace riffle::testing;
  if (!has_terminals()) return skip(no_terminals);
  http_server server{[](const http_request& x) {
    return x.method == "GET"
               ? http_reply::json(
                     R"({"data":[{"id":"mock-1"},{"id":"mock-2"}]})")
               : respond_sse("");
  }};
  const temp_folder folder;
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n[models.default]\n"
               "provider = \"openai\"\nmodel = \"mock-1\"\nbase_url = \"" +
                   server.url("/v1") + "\"\n");
  const scoped_env key{"OPENAI_API_KEY", "sk-canary-1"};
  const scoped_env place{"OPENAI_BASE_URL", server.url("/v1")};
  terminal_program at{folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next("/help shows"));
  at.type("/model mock-2\r");
  REQUIRE(at.read_next("mock-2"));
  REQUIRE(at.read_next("\x1b[?2004h"));
  CHECK(at.written().find("model openai/mock-2") == std::string::npos);
  at.type("/model\r");
  REQUIRE(at.read_next("… the models of openai"));
  at.type("zz");
  REQUIRE(at.read_next("> … the models of openai"));
  at.type("\r");
  REQUIRE(at.read_next("openai/mock-2"));
  at.type("\x1b");
  REQUIRE(at.read_next("model default (mock-1)"));
  REQUIRE(at.read_next("\x1b[?2004h"));
  at.type("/model mock-2\r");
  REQUIRE(at.read_next("model openai/mock-2"));
  REQUIRE(at.read_next("\x1b[?2004h"));
  at.type("/model mo");
  REQUIRE(at.read_next("    openai/mock-1"));
  at.type("\x15/model openai/nope\r");
  REQUIRE(
      at.read_next("openai does not list this model: the next task may fail."));
  REQUIRE(at.read_next("\x1b[?2004h"));
  at.type("\x15/quit\r");
  CHECK(at.finish() == 0);
}

TEST_CASE("what the server listed is found in the list of models behind it") {
  using namespace riffle::testing;
  if (!has_terminals()) return skip(no_terminals);
  http_server server{[](const http_request& x) {
    return x.method == "GET"
               ? http_reply::json(
                     R"({"data":[{"id":"mock-small"},{"id":"mock-large"}]})")
               : respond_sse("");
  }};
  const temp_folder folder;
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n[models.default]\n"
               "provider = \"openai\"\nmodel = \"mock-1\"\nbase_url = \"" +
                   server.url("/v1") + "\"\n");
  const scoped_env key{"OPENAI_API_KEY", "sk-canary-1"};
  const scoped_env place{"OPENAI_BASE_URL", server.url("/v1")};
  terminal_program at{folder.path(), {"chat", "--no-color"}, 110};
  REQUIRE(at.read_next("/help shows"));
  at.type("/model\r");
  REQUIRE(at.read_next("… the models of openai"));
  at.type("models\r");
  REQUIRE(at.read_next("openai/mock-small"));
  at.type("\x1b");
  REQUIRE(at.read_next("model default (mock-1)"));
  REQUIRE(at.read_next("\x1b[?2004h"));
  at.type("/model\r");
  REQUIRE(at.read_next("  … ask openai again for its models"));
  at.type("large");
  REQUIRE(at.read_next("> openai/mock-large"));
  REQUIRE(at.read_next("  … ask openai again for its models"));
  at.type("\r");
  REQUIRE(at.read_next("model openai/mock-large"));
  REQUIRE(at.read_next("\x1b[?2004h"));
  at.type("/quit\r");
  CHECK(at.finish() == 0);
}

TEST_CASE("the tools of a conversation are those of its agent, a line each") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  folder.write("s.toml", "[[steps]]\ntext = \"You said: {{task}}\"\n");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n");
  terminal_program at{folder.path(), {"chat", "--no-color"}, 80};
  REQUIRE(at.read_next("model default (s). /help shows"));
  at.type("/tools\r");
  REQUIRE(at.read_next("\nwrite "));
  at.type("/quit\r");
  CHECK(at.finish() == 0);
  CHECK(at.written().find("\nbash ") != std::string::npos);
  for (const auto* other : {"\ncomplete ", "\nseek_approval ", "\nfetch "})
    CHECK(at.written().find(other) == std::string::npos);
  riffle::testing::terminal_picture picture{80};
  picture.feed(at.written());
  INFO(picture.text());
  CHECK(picture.text().find("…\nread ") != std::string::npos);
}
