// SPDX-License-Identifier: MIT
#include <algorithm>
#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/builtin.hpp"
#include "tools/builtin/shell/bash.hpp"
#include "tools/builtin/shell/output_spool.hpp"

using namespace riffle;
using namespace riffle::tools;

namespace {

std::string passed_rows(std::string_view text) {
  row_states rows;
  std::string out;
  rows.feed(text, out);
  rows.finish(out);
  return out;
}

std::string progress_bar(int states) {
  std::string out;
  for (int i = 1; i <= states; ++i)
    out += "at " + std::to_string(i) + (i < states ? "\r" : "\n");
  return out;
}

}  // namespace

TEST_CASE("of a row that is written over the first and last states pass") {
  CHECK(passed_rows("begin\n" + progress_bar(5000) + "end\n") ==
        "begin\nat 1\rat 2\rat 3\r\n"
        "[... states of this row, each ended by \\r, left out: 4996 ...]\n"
        "at 5000\nend\n");
  // The next row counts anew.
  CHECK(passed_rows(progress_bar(5) + progress_bar(4)) ==
        "at 1\rat 2\rat 3\r\n"
        "[... states of this row, each ended by \\r, left out: 1 ...]\n"
        "at 5\nat 1\rat 2\rat 3\rat 4\n");
  // A last state that was ended itself is one all the same.
  CHECK(passed_rows("1\r2\r3\r4\r5\r").ends_with("left out: 1 ...]\n5\r"));
}

TEST_CASE("what is no progress passes as it is") {
  const std::string long_state(row_states::longest_state + 1, 'x');
  for (const std::string text :
       {"", "a", "a\nb", "a\r\nb\r\n\r\n", "a\rb\rc\rd\n", "a\rb\rc\rd",
        "a\rb\rc\rd\r", "a\rb\rc\rd\r\n", "a\r\r\r\rb", "\r\r\n", "\r"}) {
    CAPTURE(text);
    CHECK(passed_rows(text) == text);
  }
  std::string many;
  for (int i = 0; i < 20; ++i) many += long_state + "\r";
  CHECK(passed_rows(many) == many);
}

TEST_CASE("rows pass alike in whatever pieces they come") {
  std::mt19937 random{testing::fresh_seed()};
  constexpr std::string_view letters = "ab\r\r\n";
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (auto n = random() % 60; n > 0; --n)
      text += letters[random() % letters.size()];
    row_states rows;
    std::string out;
    for (std::string_view rest = text; !rest.empty();) {
      const auto n = std::min<std::size_t>(1 + random() % 5, rest.size());
      rows.feed(rest.substr(0, n), out);
      rest.remove_prefix(n);
    }
    rows.finish(out);
    CAPTURE(text);
    REQUIRE(out == passed_rows(text));
  }
}

TEST_CASE("bash: a progress bar costs the model a few lines, not thousands") {
  testing::tool_fixture x;
  const auto got =
      x.run(*make_bash({}),
            {{"command",
              "for i in $(seq 1 2000); do printf '%d of 2000\\r' $i; done >&2; "
              "printf 'done  \\n' >&2"}});
  CHECK(got.text ==
        "1 of 2000\r2 of 2000\r3 of 2000\r\n"
        "[... states of this row, each ended by \\r, left out: 1997 ...]\n"
        "done  \n");
}
