// SPDX-License-Identifier: MIT
#include "runtime/cli/command_tree.hpp"

#include <algorithm>

#include "runtime/cli/parse.hpp"
#include "tests/cli/parsing.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace riffle::testing;

namespace {

const command_node& find(const command_node& x, const std::string& name) {
  const auto found = std::ranges::find(x.commands, name, &command_node::name);
  REQUIRE(found != x.commands.end());
  return *found;
}

std::vector<std::string> all_names(const command_node& x) {
  std::vector<std::string> out;
  for (const auto& option : x.options)
    out.insert(out.end(), option.names.begin(), option.names.end());
  return out;
}

}  // namespace

TEST_CASE("the tree has every command and option of the parser") {
  const auto tree = describe_commands();
  CHECK(tree.name == "riffle");
  const auto& run = find(tree, "run");
  for (const auto& name : option_names({"run"})) {
    CAPTURE(name);
    const auto all = all_names(run);
    CHECK(std::ranges::find(all, name) != all.end());
  }
  CHECK(run.arguments.at(0).names == std::vector<std::string>{"TASK"});
  const auto& resume = find(find(tree, "sessions"), "resume");
  CHECK(resume.arguments.at(0).names.at(0) == "ID");
  CHECK_FALSE(resume.footer.empty());
}

TEST_CASE("what a value may be is known") {
  CHECK(choices_of("text|json") == std::vector<std::string>{"text", "json"});
  CHECK(choices_of("FILE").empty());
  CHECK(kind_of("riffle sessions show", "ID") == "sessions");
  CHECK(kind_of("riffle sessions delete", "ID") == "sessions");
  for (const std::string name : {"resume", "cancel", "forget"})
    CHECK(kind_of("riffle sessions " + name, "ID") == "unfinished");
  CHECK(kind_of("riffle proposals approve", "ID") == "proposals");
  CHECK(kind_of("riffle run", "--model") == "models");
  CHECK(kind_of("riffle run", "--agent") == "agents");
  CHECK(kind_of("riffle run", "--session") == "sessions");
  CHECK(kind_of("riffle run", "--context-file") == "files");
  CHECK(kind_of("riffle tools call", "NAME") == "tools");
  CHECK(kind_of("riffle run", "--workers").empty());
}

TEST_CASE("a script or names are asked for, not both and not nothing") {
  CHECK(parsed<completion_command>({"completion", "zsh"}).script == "zsh");
  CHECK(parsed<completion_command>({"completion", "--names", "tools"}).names ==
        "tools");
  CHECK(has(refused({"completion"}), "SCRIPT is required"));
  CHECK(has(refused({"completion", "ksh"}), "ksh"));
  CHECK(has(refused({"completion", "zsh", "--names", "tools"}), "excludes"));
}
