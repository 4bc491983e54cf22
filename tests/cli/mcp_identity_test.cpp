// SPDX-License-Identifier: MIT
// Which program a server is, and what a person is shown of it.
#include <cstdlib>
#include <filesystem>
#include <map>

#include <nlohmann/json.hpp>

#include "runtime/cli/view/mcp_text.hpp"
#include "runtime/node/mcp_part.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"
#include "tools/mcp/memory.hpp"

using namespace riffle;
namespace fs = std::filesystem;

namespace {

/// As if Riffle had been started there.
class standing_in {
 public:
  explicit standing_in(const fs::path& x) : before_{fs::current_path()} {
    fs::current_path(x);
  }
  ~standing_in() {
    std::error_code ignored;
    fs::current_path(before_, ignored);
  }
  standing_in(const standing_in&) = delete;
  standing_in& operator=(const standing_in&) = delete;

 private:
  fs::path before_;
};

config::mcp_config running(std::vector<std::string> words) {
  config::mcp_config x;
  x.command = std::move(words);
  return x;
}

}  // namespace

TEST_CASE("a program of the same name in another folder is another one") {
  const testing::temp_folder a;
  const testing::temp_folder b;
  for (const auto* folder : {&a, &b}) {
    folder->write("srv.py", "");
    folder->write("plain", "");
    folder->write("data.db", "");
    fs::create_directories(folder->path() / "module");
    fs::create_directories(folder->path() / "node_modules" / "@some" /
                           "server");
  }
  const auto differs = [&](const config::mcp_config& x) {
    const auto in = [&](const testing::temp_folder& folder) {
      const standing_in there{folder.path()};
      return std::pair{mcp_identity(x), mcp_memory_name("l", x)};
    };
    const auto one = in(a);
    CHECK((one.second == "l") == (one == in(b)));
    CHECK(one == in(a));
    return one != in(b);
  };
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"python3", "srv.py"},
           {"python3", "-u", "plain"},
           {"python3", "srv"},
           {"python3", "-m", "module.main"},
           {"python3", "-m", "srv"},
           {"./srv.py"},
           {"sh", "-c", "exec python3 ./srv.py --quiet"},
           {"node", "--import=./srv.py", "/abs/x.mjs"},
           {"npx", "-y", "@some/server@1.2"},
           {"sh", "-c", "npx -y mysrv"},
           {"env", "npx", "-y", "mysrv"},
           {"env", "/usr/bin/python3", "other"},
           {"make", "-s", "mcp"},
           {"cargo", "run"},
           {"go", "run", "."},
           {"dotnet", "run"},
           {"bundle", "exec", "srv"},
           {"python3", "-c", "from pkg.server import main"},
           {"python3", "-mpkg"},
           {"python3", "-m", "installed"},
           {"python3", "-W", "ignore", "other"},
           {"/usr/bin/python3.11", "other"},
           {"sh", "-c", "cd sub && exec python3 *.py"}}) {
    CAPTURE(words);
    CHECK(differs(running(words)));
  }
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"PYTHONPATH", "."},
                                          {"NODE_PATH", "/abs:lib"},
                                          {"PATH", ""},
                                          {"BASH_ENV", "./e"}}) {
    CAPTURE(name);
    auto x = running({"/usr/bin/server"});
    x.variables.text = nlohmann::json{{name, value}}.dump();
    CHECK(differs(x));
    x.variables.text = nlohmann::json{{name, "/abs/one:/abs/two"}}.dump();
    CHECK_FALSE(differs(x));
  }
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"/usr/bin/server", "data.db"},
           {"server", "--db=data.db", "."},
           {"server", "--later", "made-by-it.db"},
           {"npx", "-y", "@other/server", "."},
           {"python3", "/opt/srv.py", "data.db"}}) {
    CAPTURE(words);
    CHECK_FALSE(differs(running(words)));
  }
  auto sees = running({"/usr/bin/server"});
  sees.env = {"PERL5LIB"};
  ::setenv("PERL5LIB", "lib", 1);
  CHECK(differs(sees));
  ::setenv("PERL5LIB", "/abs/lib", 1);
  CHECK_FALSE(differs(sees));
  ::unsetenv("PERL5LIB");
  auto fixed = running({"python3", "srv.py"});
  fixed.cwd = a.path().string();
  CHECK_FALSE(differs(fixed));
  config::mcp_config web;
  web.url = "https://example.com/mcp";
  CHECK_FALSE(differs(web));
}

TEST_CASE("what was approved in one folder does not start in another") {
  const testing::temp_folder a;
  const testing::temp_folder b;
  const testing::temp_folder memory;
  a.write("srv.py", "");
  b.write("srv.py", "");
  const auto x = running({"python3", "srv.py"});
  const auto why_in = [&](const testing::temp_folder& folder) {
    const standing_in there{folder.path()};
    return why_not_here(memory.path(), "l", x);
  };
  const auto approve_in = [&](const testing::temp_folder& folder) {
    const standing_in there{folder.path()};
    REQUIRE(mcp::change_memory(memory.path(), mcp_memory_name("l", x),
                               mcp_identity(x),
                               [](mcp::remembered& y) { y.approved = true; }));
  };
  CHECK(why_in(b).empty());  // nobody has approved anything
  approve_in(a);
  CHECK(why_in(a).empty());
  CHECK(why_in(b).find("was approved in another one") != std::string::npos);
  approve_in(b);
  CHECK(why_in(a).empty());
  CHECK(why_in(b).empty());
}

TEST_CASE("what no terminal shows is shown where tools are approved") {
  mcp::tool_def tool;
  tool.name = "t";
  tool.description = "a\u200bb \U000E0041 c\uFEFF";
  const auto text =
      cli::mcp_changes_text({{mcp::change::what::added, "t", tool, {}}},
                            [](const mcp::tool_def&) { return "mutating"; });
  CHECK(text.find("+ a\\u{200b}b \\u{e0041} c\\u{feff}\n") !=
        std::string::npos);
  CHECK(cli::mcp_instructions_text("same", "same").empty());
  CHECK(cli::mcp_instructions_text("", "Read\u2060 first.")
            .find("    + Read\\u{2060} first.\n") != std::string::npos);
  CHECK(cli::mcp_late_text({{"late", {"digest", "Does it\n"}}}) ==
        "+ late  (it came while the server ran)\n    + Does it\n");
}

TEST_CASE("all of a server's tools can be looked at, not their changes alone") {
  const auto effect = [](const mcp::tool_def&) { return "mutating"; };
  mcp::tool_def kept;
  kept.name = "kept";
  kept.description = "Keeps.";
  kept.input_schema = R"({"type":"object"})";
  auto fresh = kept;
  fresh.name = "fresh";
  auto other = kept;
  other.name = "other";
  other.description = "Does more.";
  const std::vector<mcp::change> changed{
      {mcp::change::what::added, "fresh", fresh, {}},
      {mcp::change::what::changed, "other", other, mcp::approval_of(kept)}};
  CHECK(cli::mcp_whole_text({fresh, kept, other}, changed, effect) ==
        "the others as they are now:\n"
        "  kept  mutating\n"
        "      Keeps.\n"
        "      arguments: {\n"
        "      \"type\": \"object\"\n"
        "      }\n"
        "  other  mutating\n"
        "      Does more.\n"
        "      arguments: {\n"
        "      \"type\": \"object\"\n"
        "      }\n");
  CHECK(cli::mcp_whole_text({fresh}, changed, effect).empty());
}

TEST_CASE("a command with blanks in an imported file is told") {
  const auto found = cli::read_mcp_servers(
      {{"mcpServers",
        {{"odd_", {{"command", "echo hi there"}}},
         {"good", {{"command", "echo"}, {"args", {"hi there"}}}}}}});
  REQUIRE(found.all.size() == 2);
  CHECK(found.all[1].first == "odd");  // no '_' at the end
  REQUIRE(found.notes.size() == 1);
  CHECK(found.notes[0].find("odd_: its command \"echo hi there\" counts as the "
                            "name of one program") == 0);
}

TEST_CASE("the time limit of a server is written into its table") {
  config::mcp_config x = running({"x"});
  x.timeout = std::chrono::seconds{90};
  CHECK(cli::mcp_table("l", x).find("timeout = \"90s\"\n") !=
        std::string::npos);
}

TEST_CASE("a no to a server's tools is remembered, until a yes") {
  if (!testing::has_terminals()) return testing::skip(testing::no_terminals);
  const testing::temp_folder folder;
  folder.write("s.toml", "[[steps]]\ntext = \"Done.\"\n");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n"
               "[mcp.liar]\ncommand = [\"" RIFFLE_MCP_LIAR "\"]\n");
  const auto known = [&] {
    return mcp::recall(folder.path() / "data" / "mcp", "liar");
  };
  const auto answered = [&](const std::string& key, const std::string& told) {
    testing::terminal_program at{
        folder.path(), {"mcp", "approve", "liar", "--no-color"}, 100};
    REQUIRE(
        at.read_next("+ [mutating; says: may write, not idempotent]  echo(n?, "
                     "text?)  Does echo"));
    REQUIRE(at.read_next("Let `liar` (29 tools, command: "));
    REQUIRE(at.read_next("[v]iew all > "));
    at.type(key + "\n");
    REQUIRE(at.read_next(told));
    return at.finish();
  };
  CHECK(answered("n", "no run uses them") == 2);
  CHECK(known().approved);
  CHECK(known().tools.empty());
  CHECK(answered("y", "are approved as they are") == 0);
  CHECK_FALSE(known().tools.empty());
}
