// SPDX-License-Identifier: MIT
// riffle run with several tasks
#include "tests/cli/parsing.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace riffle::testing;
using namespace std::chrono_literals;

TEST_CASE("a task is needed, and none is blank") {
  CHECK(has(refused({"run"}), "TASK is required"));
  CHECK(has(refused({"run", "  "}), "TASK: is empty"));
  CHECK(has(refused({"run", "do this", " "}), "TASK: is empty"));
}

TEST_CASE("several tasks are a volley") {
  const auto x = parsed<volley_command>(
      {"run", "do this", "that", "--workers", "7", "--max-retries", "2",
       "--fail-fast", "--agent", "writer", "--context", "c", "--timeout", "9s",
       "--approve", "all", "--output", "json", "--stats"});
  CHECK(x.tasks == std::vector<std::string>{"do this", "that"});
  CHECK(x.workers == 7);
  CHECK(x.max_retries == 2);
  CHECK(x.fail_fast);
  CHECK(x.each.agent == "writer");
  CHECK(x.each.context == "c");
  CHECK(x.each.choices.timeout == 9s);
  CHECK(x.each.choices.approval == approve::all);
  CHECK(x.each.common.output == output_kind::json);
  CHECK(x.each.show.stats);
  CHECK_FALSE(x.tasks_file);
  const auto lists =
      parsed<volley_command>({"run", "--agent", "x", "--", "[a, b]", "[c, d]"});
  CHECK(lists.tasks == std::vector<std::string>{"[a, b]", "[c, d]"});
  const auto plain = parsed<volley_command>({"run", "do this", "do that"});
  CHECK(plain.workers == 4);
  CHECK(plain.max_retries == 0);
  CHECK_FALSE(plain.fail_fast);
  const auto file = parsed<volley_command>({"run", "--tasks-file", "t.txt"});
  CHECK(file.tasks_file == "t.txt");
  CHECK(file.tasks.empty());
  CHECK(parsed<volley_command>({"run", "--tasks-file", "-", "do it"})
            .tasks.size() == 1);
  // One that is tried again is a volley of one.
  CHECK(
      parsed<volley_command>({"run", "t", "--max-retries", "1"}).tasks.size() ==
      1);
  CHECK(has(refused({"run", "a b", "c", "--workers", "0"}), "--workers"));
  CHECK(has(refused({"run", "a b", "c", "--max-retries", "-1"}),
            "--max-retries"));
}

TEST_CASE("words that were not quoted are no tasks by mistake") {
  const auto why = refused({"run", "one", "two", "three"});
  CHECK(has(why, "riffle run \"one two three\""));
  CHECK(has(why, "riffle run -- one two three"));
  const auto meant = parsed<volley_command>({"run", "--", "one", "two"});
  CHECK(meant.tasks == std::vector<std::string>{"one", "two"});
  // What counts for several alone says that they are.
  for (const std::vector<std::string>& said :
       {std::vector<std::string>{"--workers", "3"},
        {"--max-retries", "1"},
        {"--fail-fast"}}) {
    std::vector<std::string> all{"run"};
    all.insert(all.end(), said.begin(), said.end());
    all.insert(all.end(), {"own", "slow"});
    CHECK(parsed<volley_command>(all).tasks ==
          std::vector<std::string>{"own", "slow"});
  }
  // A sentence of a script without blanks is one word.
  const std::vector<std::string> japanese{"テストを書いてください。",
                                          "このコードを説明して。"};
  CHECK(parsed<volley_command>({"run", japanese[0], japanese[1]}).tasks ==
        japanese);
}

TEST_CASE("standard input is read once") {
  CHECK(has(refused({"run", "-", "-", "a b"}), "standard input is read once"));
  CHECK(has(refused({"run", "-", "--tasks-file", "-"}),
            "standard input is read once"));
}
