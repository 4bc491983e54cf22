// SPDX-License-Identifier: MIT
// What needs a person's consent, and above all what does not.
#include "actors/core/approval_rules.hpp"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/plain_command.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using core::approval_policy;
using core::approval_rule;
using core::plain_command;

namespace {

constexpr auto allow = approval_policy::allow;
constexpr auto ask = approval_policy::ask;
constexpr auto deny = approval_policy::deny;

rule_subject shell(std::string command) {
  return {.text = std::move(command), .shell = true};
}

approval_policy of(std::string command, approval_policy base,
                   const std::vector<approval_rule>& rules) {
  return core::policy_of(shell(std::move(command)), base, rules);
}

const std::vector<approval_rule> git = {{"git status*", allow}};

/// Ways to hide `rm -rf x` in a command that begins like a harmless one.
const std::vector<std::string> disguises = {
    "git status; rm -rf x",
    "git status;rm -rf x",
    "git status && rm -rf x",
    "git status & rm -rf x",
    "git status&",
    "git status || rm -rf x",
    "git status | xargs rm -rf",
    "git status |& rm -rf x",
    "git status\nrm -rf x",
    "git status\r\nrm -rf x",
    "git status $(rm -rf x)",
    "git status `rm -rf x`",
    "git status \"$(rm -rf x)\"",
    "git status \"`rm -rf x`\"",
    "git status ${x:-$(rm -rf x)}",
    "git status $HOME",
    "git status > /etc/passwd",
    "git status >> ~/.bashrc",
    "git status < /etc/shadow",
    "git status <(rm -rf x)",
    "git status >(rm -rf x)",
    "git status 2>&1",
    "git status << END\nrm -rf x\nEND",
    "git status \\\nrm",
    "git status \\; rm",
    "git status 'open",
    "git status \"open",
    "git status # comment",
    "git status *",
    "git status ?",
    "git status [a-z]",
    "git status ~",
    "git status {a,b}",
    "git status !!",
    "git status (rm)",
    "git status\trm\v",
    std::string{"git status\0rm", 13},
    "git status \x1b[2K",
    "git status \x7f",
    "git status ''\"$(rm)\"",
    "git status 'a'\\''; rm -rf x'",
};

}  // namespace

TEST_CASE("a plain command is taken word by word") {
  CHECK(plain_command("git status") == "git status");
  CHECK(plain_command("  git \t status  -s ") == "git status -s");
  CHECK(plain_command("g'i't \"status\"") == "git status");
  CHECK(plain_command("git commit -m 'a  message'") ==
        "git commit -m 'a  message'");
  CHECK(plain_command("git commit -m \"it; is | fine\"") ==
        "git commit -m 'it; is | fine'");
  CHECK(plain_command("git 'status x'") == "git 'status x'");
  CHECK(plain_command("'git status'") == "'git status'");
  CHECK(plain_command("echo ''") == "echo ''");
  CHECK(plain_command("make CC=gcc") == "make CC=gcc");
  CHECK(plain_command("ls größe") == "ls größe");
}

TEST_CASE("what has more than one reading is no plain command") {
  for (const auto& x : disguises) {
    CAPTURE(x);
    CHECK_FALSE(plain_command(x));
  }
  CHECK_FALSE(plain_command(""));
  CHECK_FALSE(plain_command("  "));
  CHECK_FALSE(plain_command("PATH=/tmp git status"));
  CHECK_FALSE(plain_command("\"PATH=/tmp\" git status"));
  CHECK_FALSE(plain_command("echo \"it's\""));
}

TEST_CASE("an allowed command is one that surely does nothing else") {
  CHECK(of("git status", ask, git) == allow);
  CHECK(of("git status --short src", ask, git) == allow);
  CHECK(of("git  status", ask, git) == allow);
  CHECK(of("git push", ask, git) == ask);
  CHECK(of("sudo git status", ask, git) == ask);
  CHECK(of("'git status'", ask, git) == ask);
  CHECK(of("GIT_PAGER=evil git status", ask, git) == ask);
  for (const auto& x : disguises) {
    CAPTURE(x);
    CHECK(of(x, ask, git) == ask);
    CHECK(of(x, deny, git) == deny);
    CHECK(of(x, ask, {{"*", allow}}) == ask);
  }
}

TEST_CASE("no text around shell syntax makes an allow rule match") {
  const unsigned seed = testing::fresh_seed();
  std::mt19937 random{seed};
  CAPTURE(seed);
  const std::string special = ";&|<>()$`\\*?[]{}~!#\n\r";
  const std::vector<std::string> words = {"git", "status", " ", "  ",   "-s",
                                          "''",  "\"\"",   "x", "'a b'"};
  for (int i = 0; i < 20'000; ++i) {
    std::string line = "git status";
    const auto begin = random() % 6;
    for (std::size_t n = 0; n < begin; ++n) line += words[random() % 9];
    line += special[random() % special.size()];
    const auto end = random() % 6;
    for (std::size_t n = 0; n < end; ++n) line += words[random() % 9];
    CAPTURE(line);
    REQUIRE(of(line, ask, {{"*", allow}}) == ask);
  }
}

TEST_CASE("the first rule that matches decides") {
  const std::vector<approval_rule> rules = {
      {"git push --force*", deny}, {"git push*", ask}, {"git *", allow}};
  CHECK(of("git push --force origin", ask, rules) == deny);
  CHECK(of("git push origin", allow, rules) == ask);
  CHECK(of("git log", deny, rules) == allow);
  CHECK(of("ls", deny, rules) == deny);
  CHECK(of("ls", allow, rules) == allow);
}

TEST_CASE("a denied command is found behind shell syntax") {
  const std::vector<approval_rule> rules = {{"rm *", deny}};
  for (const auto* x :
       {"rm -rf x", "ls; rm -rf x", "ls && rm -rf x", "ls\nrm -rf x",
        "$(rm -rf x)", "`rm -rf x`", "(rm -rf x)", "{ rm -rf x; }",
        "A=1 rm -rf x", "r\\m -rf *", "'rm' -rf *", "sh -c \"rm -rf *\" $x",
        "x | rm -rf y"}) {
    CAPTURE(x);
    CHECK(of(x, allow, rules) == deny);
  }
  CHECK(of("ls -l", allow, rules) == allow);
}

TEST_CASE("what a stricter rule cannot judge is asked for, not allowed") {
  const std::vector<approval_rule> rules = {{"rm *", deny}};
  CHECK(of("$(echo cm0gLXJm | base64 -d) x", allow, rules) == ask);
  CHECK(of("sh -c \"rm -rf x\"", allow, rules) == ask);
  CHECK(of("ls *", allow, rules) == ask);
  CHECK(of("ls *", allow, {{"rm *", ask}}) == ask);
  CHECK(of("ls *", allow, {{"rm *", allow}}) == allow);
  CHECK(of("ls *", deny, rules) == deny);
  CHECK(of("ls *", allow, {{"rm *", deny}, {"ls *", ask}}) == ask);
}

TEST_CASE("subjects that no shell reads are matched as they are") {
  const auto path = [](std::string x) { return rule_subject{std::move(x)}; };
  const std::vector<approval_rule> rules = {{"docs/*", allow}, {"*.key", deny}};
  CHECK(core::policy_of(path("docs/a;b.md"), ask, rules) == allow);
  CHECK(core::policy_of(path("src/a.key"), ask, rules) == deny);
  CHECK(core::policy_of(path("src/a.cpp"), ask, rules) == ask);
  const rule_subject unknown{.text = "docs/x", .known = false};
  CHECK(core::policy_of(unknown, ask, rules) == ask);
  CHECK(core::policy_of(unknown, allow, rules) == ask);
  CHECK(core::policy_of(unknown, allow, {{"docs/*", allow}}) == allow);
}

TEST_CASE("patterns know two signs") {
  using core::matches_pattern;
  CHECK(matches_pattern("", ""));
  CHECK_FALSE(matches_pattern("", "a"));
  CHECK(matches_pattern("*", ""));
  CHECK(matches_pattern("a?c", "abc"));
  CHECK_FALSE(matches_pattern("a?c", "ac"));
  CHECK(matches_pattern("a*c*e", "abcde"));
  CHECK_FALSE(matches_pattern("a*c*f", "abcde"));
  CHECK(matches_pattern("*ab", "aab"));
  CHECK(matches_pattern("[a]", "[a]"));
  CHECK_FALSE(matches_pattern("git status", "git status x"));
  const std::string many(2000, 'a');
  CHECK_FALSE(matches_pattern("*a*a*a*a*a*a*a*b", many));
}
