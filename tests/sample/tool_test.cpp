// SPDX-License-Identifier: MIT
#include <cstdlib>

#include <riffle/testing.hpp>

#include "word_count.hpp"

// Any test framework will do; here it is `check`.
void check(bool x) {
  if (!x) std::abort();
}

void the_tool_counts() {
  auto trial = riffle::testing::run_tool(word_count(), R"({"text": "a b"})");
  check(trial.has_value());
  check(trial->output.text == "2 words");
}

void an_agent_counts_and_answers() {
  auto trial = riffle::testing::run_agent({word_count()}, R"(
[[steps]]
calls = [{ tool = "word_count", arguments = { text = "a b c" } }]
[[steps]]
text = "There are {{result.0}}."
)");
  check(trial.has_value());
  check(trial->outcome.answer == "There are 3 words.");
}

int main() {
  the_tool_counts();
  an_agent_counts_and_answers();
}
