// SPDX-License-Identifier: MIT
#include "runtime/cli/parse.hpp"
#include "tests/cli/parsing.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace riffle::testing;

TEST_CASE("chat takes a session and what a run takes, and no task") {
  const auto x = parsed<chat_command>({"chat"});
  CHECK_FALSE(x.each.goes_on);
  CHECK_FALSE(x.each.session);
  CHECK_FALSE(x.each.agent);
  const auto all = parsed<chat_command>(
      {"chat", "--session", "k3f9qz", "--agent", "a", "-m", "m", "--max-steps",
       "3", "--approve", "none", "--show-reasoning"});
  CHECK(all.each.session == "k3f9qz");
  CHECK(all.each.agent == "a");
  CHECK(all.each.choices.model == "m");
  CHECK(all.each.choices.max_steps == 3);
  CHECK(all.each.choices.approval == approve::none);
  CHECK(all.each.show.reasoning);
  CHECK(has(refused({"chat", "--output", "json"}), "a conversation is text"));
}

TEST_CASE("-c goes on with the newest session, and names no other") {
  CHECK(parsed<chat_command>({"chat", "-c"}).each.goes_on);
  CHECK(parsed<run_command>({"run", "--continue", "go on"}).goes_on);
  CHECK_FALSE(parsed<run_command>({"run", "go on"}).goes_on);
  CHECK(has(refused({"run", "-c", "--session", "s", "x y"}), "excludes"));
  CHECK(has(refused({"run", "-c", "task one", "task two"}),
            "goes on with one session"));
}

TEST_CASE("options alone begin a conversation, and no output is chosen there") {
  CHECK(parsed<chat_command>({"-m", "m"}).each.choices.model == "m");
  CHECK(parsed<chat_command>({"-v"}).each.common.level == verbosity::verbose);
  CHECK(parsed<chat_command>({"-q", "-m", "m"}).each.common.level ==
        verbosity::quiet);
  CHECK(parsed<chat_command>({"--approve", "none"}).each.choices.approval ==
        approve::none);
  CHECK(parsed<chat_command>({"--set", "a.b=1"}).each.common.sets.size() == 1);
  CHECK(parsed<run_command>({"run", "-m", "m", "task"}).choices.model == "m");
  CHECK(has(refused({"--nothing-like-it"}), "--nothing-like-it"));
  const auto help = std::get<leave_command>(parse({"chat", "--help"}));
  CHECK_FALSE(has(help.out, "--output"));
}
