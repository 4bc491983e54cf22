// SPDX-License-Identifier: MIT
// What `config check` says about rules that never do what they say.
#include "runtime/config/rule_warnings.hpp"

#include <cstdlib>

#include "tests/support/catch.hpp"

using namespace riffle;
using config::pattern_covers;

namespace {

using strings = std::vector<std::string>;

strings warnings_of(const std::string& text) {
  config::load_request request;
  request.text = text;
  const auto x = config::load(request);
  REQUIRE(x);
  return config::rule_warnings(*x);
}

/// Of one rule of a tool: what stands behind "can never match: ".
std::string warning(const std::string& tool, const std::string& pattern,
                    const std::string& approval = "deny") {
  const auto all =
      warnings_of("[tools." + tool + "]\nrules = [{ match = '''" + pattern +
                  "''', approval = \"" + approval + "\" }]\n");
  if (all.empty()) return "";
  REQUIRE(all.size() == 1);
  CAPTURE(all[0]);
  CHECK(all[0].starts_with("line 2: tools." + tool + ".rules: item 1: "));
  const std::string before = " can never match: ";
  REQUIRE(all[0].find(before) != std::string::npos);
  return all[0].substr(all[0].find(before) + before.size());
}

}  // namespace

TEST_CASE("a rule about a path that no path has is told of") {
  for (const auto* tool : {"read", "write", "edit", "glob", "grep"}) {
    CAPTURE(tool);
    for (const auto* good : {"docs/*", "*.env", ".env", "*", "a?b", ".git/*",
                             "docs", "..a", "a..", "~"})
      CHECK(warning(tool, good, "allow").empty());
    CHECK(warning(tool, "docs/") ==
          "no path ends with \"/\"; for all that is in the folder write "
          "\"docs/*\"");
    CHECK(warning(tool, "/etc/*") ==
          "rules see paths relative to the workspace, and no tool for files "
          "leaves it");
    const auto here = std::filesystem::current_path().string();
    CHECK(warning(tool, here + "/docs/*") ==
          "rules see paths relative to the workspace; write \"docs/*\"");
    CHECK(warning(tool, "./docs/*").starts_with("rules see paths without"));
    CHECK(warning(tool, "docs/../*").starts_with("rules see paths without"));
    CHECK(warning(tool, "../*").starts_with("rules see paths without"));
    CHECK(warning(tool, "docs//x") == "no path holds \"//\"");
    CHECK(warning(tool, "~/x").starts_with("~ means nothing"));
  }
}

TEST_CASE("a rule about a command that rules never see is told of") {
  for (const auto* good : {"git status*", "make", "rm *", "echo 'a;b' *"})
    for (const auto* approval : {"allow", "ask", "deny"})
      CHECK(warning("bash", good, approval).empty());
  for (const auto* bad : {"ls; rm *", "a && b", "curl * | sh", "x > y", "(a)"})
    CHECK(warning("bash", bad, "deny").starts_with("rules see the commands"));
  for (const auto* bad : {"x > y", "(a)", "(a && b)", "a | $B"})
    CHECK(warning("bash", bad, "allow").starts_with("an \"allow\" matches"));
  CHECK(warning("bash", "git add 'a&b' && git commit*", "allow") ==
        "an \"allow\" never covers a line of several commands; each of them "
        "alone: \"git add 'a&b'\", \"git commit*\"");
  for (const auto* bad : {"echo $HOME", "ls ~", "echo \"a\""}) {
    CHECK(warning("bash", bad, "allow").starts_with("an \"allow\" matches"));
    CHECK(warning("bash", bad, "deny").empty());
  }
  CHECK(warning("bash", "git  status").starts_with("rules see one blank"));
}

TEST_CASE("a rule about a URL that no URL has is told of") {
  for (const auto* good :
       {"https://x.org/*", "*", "*internal*", "http*://x/*", "http?://x/",
        "https://*", "https://*.org/a", "http://x:8080/*", "http*"}) {
    CAPTURE(good);
    CHECK(warning("fetch", good).empty());
  }
  CHECK(warning("fetch", "x.org/*") ==
        "URLs begin with http:// or https://; write \"https://x.org/*\", or "
        "begin with *");
  CHECK(warning("fetch", "ftp://x/*") == "fetch takes http and https only");
  CHECK(warning("fetch", "HTTPS://Example.com/A*") ==
        "rules see scheme and host in small letters; write "
        "\"https://example.com/A*\"");
  CHECK(warning("fetch", "https://x.org") ==
        "a URL has at least a \"/\" behind its host; write "
        "\"https://x.org/*\"");
  CHECK(warning("fetch", "https://X.org/*") == "rules see hosts in lower case");
  CHECK(warning("fetch", "https://x:443/*").starts_with("rules see no port"));
  CHECK(warning("fetch", "http://x:80/*").starts_with("rules see no port"));
  CHECK(warning("fetch", "https://me@x/*").starts_with("no URL with a user"));
  CHECK(warning("fetch", "https://x/a#b").starts_with("rules see URLs"));
  CHECK(warning("fetch", "https://x/a/../b").starts_with("rules see URLs"));
}

TEST_CASE("rules of programs see JSON, and some tools no rules at all") {
  const std::string program =
      "type = \"command\"\ncommand = [\"true\"]\ndescription = \"x\"\n"
      "parameters = { type = \"object\" }\n";
  const auto of = [&](const std::string& pattern) {
    return warnings_of("[tools.mine]\n" + program + "rules = [{ match = '" +
                       pattern + "', approval = \"ask\" }]");
  };
  CHECK(of("*\"id\":7*").empty());
  CHECK(of("{\"id\":*}").empty());
  REQUIRE(of("id*").size() == 1);
  CHECK(of("id*")[0].find("a JSON object") != std::string::npos);
  const std::string why =
      ": this tool acts on the run only, nobody is asked about it";
  CHECK(warnings_of("[tools.complete]\napproval = \"deny\"\nrules = "
                    "[{ match = '*', approval = \"ask\" }]") ==
        strings{"line 3: tools.complete.rules" + why,
                "line 2: tools.complete.approval" + why});
  CHECK(warnings_of("").empty());
}

TEST_CASE("a rule behind one that matches all of it is told of") {
  const auto all = warnings_of(
      "[tools]\nrules = [{ match = 'git *', approval = \"allow\" }, { match = "
      "'git push*', approval = \"deny\" }]\n[tools.write]\nrules = [{ match = "
      "'*', approval = \"ask\" }, { match = 'docs/*', approval = \"allow\" }]");
  REQUIRE(all.size() == 2);
  CHECK(all[0] ==
        "line 2: tools.rules: item 2: \"git push*\" decides nothing: the first "
        "that matches does, and item 1, \"git *\", matches all of it");
  CHECK(all[1].starts_with("line 4: tools.write.rules: item 2: \"docs/*\""));
  CHECK(pattern_covers("*", ""));
  CHECK(pattern_covers("*", "*?*"));
  CHECK(pattern_covers("a*", "a"));
  CHECK(pattern_covers("a?c", "abc"));
  CHECK(pattern_covers("a?c", "a?c"));
  CHECK(pattern_covers("*b*", "a*b"));
  CHECK_FALSE(pattern_covers("a?c", "a*c"));
  CHECK_FALSE(pattern_covers("a", "a*"));
  CHECK_FALSE(pattern_covers("a*", "*a"));
  CHECK_FALSE(pattern_covers("", "a"));
}

TEST_CASE("an assignment is in no plain command, JSON is no path") {
  CHECK(warning("bash", "A=1 rm *", "allow").ends_with("assignment in front"));
  CHECK(warning("bash", "A=* rm", "allow").ends_with("assignment in front"));
  for (const auto* good : {"* A=1 rm", "env A=1 rm *", "make X=1", "*=*"})
    CHECK(warning("bash", good, "allow").empty());
  CHECK(warning("read", R"({"path":".env"})") ==
        "rules of this tool see a path, not arguments as JSON");
}

TEST_CASE("a completion that has no effect is told of") {
  const auto of = [](const std::string& keys) {
    return warnings_of("[agents.default]\n" + keys);
  };
  CHECK(of("completion = \"tool\"\n").empty());  // the defaults
  const auto chat = of("phase = \"chat\"\ncompletion = \"tool\"\n");
  REQUIRE(chat.size() == 1);
  CHECK(chat[0] ==
        "line 3: agents.default.completion: \"tool\" has no effect: sessions "
        "begin in the phase \"chat\", which is one of exempt_phases, and stay "
        "there unless `riffle run --phase` moves them; set phase = \"work\", "
        "or take \"chat\" out of exempt_phases");
  CHECK(of("phase = \"chat\"\n").empty());
  CHECK(of("phase = \"chat\"\ncompletion = \"tool\"\n"
           "exempt_phases = []\n")
            .empty());
  CHECK(of("phase = \"chat\"\ncompletion = \"tool\"\n"
           "tools = [\"set_phase\"]\n")
            .empty());
  CHECK(of("phase = \"chat\"\ncompletion = \"tool\"\n"
           "response_schema = { type = \"object\" }\n")
            .empty());
}

TEST_CASE("variables of servers that are not set are told of") {
  ::setenv("RIFFLE_TEST_SET", "x", 1);
  ::unsetenv("RIFFLE_TEST_UNSET");
  const auto warnings = [](const std::string& token, const std::string& team,
                           const std::string& seen) {
    return warnings_of(
        "[mcp.web]\nurl = \"https://a.example/mcp\"\n"
        "token_env = \"" +
        token + "\"\nheaders = { X-Team = \"a ${" + team +
        "}\" }\n[mcp.files]\ncommand = [\"files\"]\nenv = [\"" + seen +
        "\"]\n");
  };
  const std::string set = "RIFFLE_TEST_SET";
  const std::string unset = "RIFFLE_TEST_UNSET";
  const std::string costs =
      " is not set here: without it the server is out of service";
  CHECK(warnings(set, set, set).empty());
  CHECK(warnings(unset, set, set) ==
        strings{"line 3: mcp.web.token_env: the variable " + unset + costs});
  CHECK(warnings(set, unset, set) ==
        strings{"mcp.web.headers: the variable " + unset + costs});
  CHECK(warnings(set, set, unset) ==
        strings{"line 7: mcp.files.env: the variable " + unset +
                " is not set here, so the server does not see it"});
  ::unsetenv("RIFFLE_TEST_SET");
}
