// SPDX-License-Identifier: MIT
// What `config check` says about rules that do less, or more, than they look.
#include "runtime/config/rule_warnings.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

std::vector<std::string> all_warnings(const std::string& text) {
  config::load_request request;
  request.text = text;
  const auto x = config::load(request);
  REQUIRE(x);
  return config::rule_warnings(*x);
}

/// Of one rule: what stands behind its pattern; empty: nothing is said.
std::string said_of(const std::string& tool, const std::string& pattern,
                    const std::string& approval = "deny") {
  const auto all =
      all_warnings("[tools." + tool + "]\nrules = [{ match = '''" + pattern +
                   "''', approval = \"" + approval + "\" }]\n");
  if (all.empty()) return {};
  REQUIRE(all.size() == 1);
  const auto before =
      "line 2: tools." + tool + ".rules: item 1: \"" + pattern + "\" ";
  CAPTURE(all[0]);
  REQUIRE(all[0].starts_with(before));
  return all[0].substr(before.size());
}

}  // namespace

TEST_CASE("what other programs understand in a path is told of") {
  const testing::temp_folder folder;
  const testing::scoped_directory there{folder.path()};
  std::filesystem::create_directory("secrets");
  for (const auto* tool : {"read", "write", "edit"})
    for (const auto* approval : {"deny", "ask"}) {
      CAPTURE(tool, approval);
      CHECK(said_of(tool, "**/.env", approval) ==
            "does not match in the workspace's own folder; add a rule "
            "\".env\"");
      CHECK(said_of(tool, "src/**/k", approval) ==
            "does not match \"src/k\"; add a rule for it");
      for (const auto* foreign : {"b[12]", "{b1,b2}", "!x", "^src/.*$"})
        CHECK(said_of(tool, foreign, approval).starts_with("matches \""));
      CHECK(said_of(tool, "secrets", approval) ==
            "matches the folder alone; for what is in it write "
            "\"secrets/*\"");
      for (const auto* good :
           {"secrets/*", ".env", "*.env", "*/.env", "src/**", "none", "a{b"})
        CHECK(said_of(tool, good, approval).empty());
    }
  CHECK(said_of("read", "b[12]") ==
        "matches \"[ ]\" as it stands: only * and ? mean something; write a "
        "rule for each name");
  folder.write("b[12]", "");
  CHECK(said_of("read", "b[12]").empty());  // it is there
  CHECK(said_of("read", "**/.env", "allow").empty());
}

TEST_CASE("a rule of a search that keeps nothing out of it is told of") {
  for (const auto* tool : {"grep", "glob"}) {
    for (const auto* approval : {"deny", "ask"})
      CHECK(said_of(tool, "secrets/*", approval) ==
            "sees only the folder where a search begins (\".\" if none is "
            "named); to keep files out of searches deny them to read: "
            "tools.read.rules");
    CHECK(said_of(tool, "secrets/*", "allow").empty());
    CHECK(said_of(tool, "*").empty());
  }
}

TEST_CASE("a rule of URLs that covers other hosts is told of") {
  CHECK(said_of("fetch", "*.example.com") ==
        "matches no host, for a \"/\" stands behind each, but what a path ends "
        "with; write \"https://*.example.com/*\"");
  for (const auto* open : {"*example.com/*", "https://*.example.com/*"})
    CHECK(said_of("fetch", open, "allow") ==
          "allows other hosts, too, such as "
          "\"https://evil.test/x.example.com/\", for * stands for \"/\" as "
          "well; name each host");
  CHECK(said_of("fetch", "https://*.example.com/*").empty());
  for (const auto* good : {"*", "https://*", "https://example.com/*", "http*"})
    CHECK(said_of("fetch", good, "allow").empty());
}

TEST_CASE("a rule of commands is no regular expression") {
  CHECK(said_of("bash", "^git push.*").starts_with("matches \"^\""));
  CHECK(said_of("bash", "git push*").empty());
}

TEST_CASE("a variable of a server that looks like a key is told of") {
  const auto all = all_warnings(
      "[mcp.x]\ncommand = [\"a\"]\nvariables = { GITHUB_TOKEN = \"gh-CANARY\", "
      "API_KEY = \"k\", MODE = \"quiet\", TOKEN = \"\" }\n");
  REQUIRE(all.size() == 2);
  CHECK(all[0].find("API_KEY looks like a key") != std::string::npos);
  CHECK(all[1].find("GITHUB_TOKEN looks like a key") != std::string::npos);
  CHECK(all[1].find("CANARY") == std::string::npos);
}
