// SPDX-License-Identifier: MIT
// What somebody at a terminal sees of servers, their tools and their deaths.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/skip.hpp"

using riffle::testing::temp_folder;
using riffle::testing::terminal_picture;
using riffle::testing::terminal_program;

namespace {

void prepare(const temp_folder& folder, const std::string& calls,
             const std::string& servers = {}) {
  folder.write("s.toml",
               "[[steps]]\nchunk = 9\ntext = \"Let me look at that, it takes a "
               "moment.\"\n" +
                   calls + "[[steps]]\ntext = \"Done: {{task}}\"\n");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n[tools]\napproval = \"allow\"\n"
               "[supervision]\nbackoff = { base = \"10ms\", cap = \"20ms\" }\n"
               "[mcp.liar]\ncommand = [\"" RIFFLE_MCP_LIAR
               "\", \"modern\"]\nagents = [\"default\"]\n" +
                   servers);
}

std::string call_of(const std::string& tool) {
  return "[[steps.calls]]\ntool = \"liar__" + tool +
         "\"\narguments = { text = \"hello there\" }\n";
}

std::string picture_of(const terminal_program& x) {
  terminal_picture out{80};
  out.feed(x.written());
  return out.text();
}

/// Not their guards, which are Riffle's.
std::vector<pid_t> liars_in(const std::filesystem::path& folder) {
  auto out = riffle::testing::processes_in(folder);
  std::erase_if(out, [](pid_t x) {
    std::ifstream in{"/proc/" + std::to_string(x) + "/comm"};
    std::string name;
    return !std::getline(in, name) || name != "riffle_mcp_liar";
  });
  return out;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t out = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++out;
  return out;
}

}  // namespace

TEST_CASE("a conversation tells of servers in words, once for a cause") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder, call_of("echo") + call_of("garbage") + call_of("die"),
          "[mcp.gone]\ncommand = [\"/bin/false\"]\nagents = [\"default\"]\n");
  terminal_program riffle{folder.path(), {"chat", "--no-color"}, 80};
  REQUIRE(riffle.read_next("/help shows"));
  REQUIRE(riffle.read_next("\x1b[?2004h"));  // the prompt
  for (const std::string task : {"first", "second"}) {
    if (task != "first") REQUIRE(riffle.read_next("\x1b[?2004h"));
    riffle.type(task + "\r");
    INFO(riffle.written());
    REQUIRE(riffle.read_next("Done: " + task));
  }
  riffle.type("/quit\r");
  CHECK(riffle.finish() == 0);
  const auto text = picture_of(riffle);
  INFO(text);
  CHECK(count(text, " warn ") == 0);
  CHECK(count(text, "[MCP] gone: it ended with exit status 1") == 1);
  CHECK(count(text, "[MCP] gone: the server gone is out of service") == 1);
  // On a slow machine it is waited for, which is told, too.
  const auto waits = count(text, "[MCP] gone: it is not there yet");
  CHECK(count(text, "[MCP] gone") == 2 + waits);
  CHECK(count(text, "[MCP] liar: it was ended by SIGKILL") == 1);
  CHECK(count(text, "\nLet me look at that, it takes a moment.\n") == 2);
  CHECK(count(text, "[TOOL] Using liar to echo: hello there (1 line, 11 B)") ==
        2);
  CHECK(count(text,
              "[TOOL] Using liar to die: hello there ✗ interrupted: the "
              "server liar was lost") == 2);
}

TEST_CASE("the log has all of it for who wants to see more") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder, call_of("echo"),
          "[mcp.gone]\ncommand = [\"/bin/false\"]\nagents = [\"default\"]\n");
  terminal_program riffle{folder.path(), {"run", "-v", "go"}, 200};
  CHECK(riffle.finish() == 0);
  INFO(riffle.written());
  CHECK(count(riffle.written(),
              " warn mcp.gone: it ended with exit status 1") >= 1);
  CHECK(count(riffle.written(), "[MCP]") == 0);
}

TEST_CASE("a server that dies meanwhile is told of above the prompt") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const temp_folder folder;
  prepare(folder, call_of("echo"));
  terminal_program riffle{folder.path(), {"chat", "--no-color"}, 80};
  REQUIRE(riffle.read_next("/help shows"));
  REQUIRE(riffle.read_next("\x1b[?2004h"));  // the prompt
  riffle.type("first\r");
  REQUIRE(riffle.read_next("Done: first"));
  REQUIRE(riffle.read_next("\x1b[?2004h"));
  riffle.type("half a line");
  REQUIRE(riffle.read_next("half a line"));
  const auto servers = liars_in(folder.path());
  REQUIRE_FALSE(servers.empty());
  for (const auto x : servers) ::kill(x, SIGKILL);
  REQUIRE(riffle.read_next("[MCP] liar: it was ended by SIGKILL"));
  REQUIRE(riffle.read_next("> half a line"));
  riffle.type(" and more\r");
  REQUIRE(riffle.read_next("Done: half a line and more"));
  riffle.type("/quit\r");
  CHECK(riffle.finish() == 0);
}
