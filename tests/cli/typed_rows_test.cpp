// SPDX-License-Identifier: MIT
// What is typed while a run works, with a list below it.
#include <algorithm>

#include "tests/cli/live_stage.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

std::ptrdiff_t rows_of(const std::string& picture) {
  return std::ranges::count(picture, '\n');
}

}  // namespace

TEST_CASE(
    "of a list below what is typed as much is shown as there is room for") {
  std::string typed = "> /";
  for (int i = 0; i < 9; ++i) typed += "\n    /row " + std::to_string(i);
  for (const std::size_t rows : {24u, 8u, 4u, 3u, 2u}) {
    CAPTURE(rows);
    live_stage s{on_terminal(), 40};
    s.rows = rows;
    s.on(events::step_start{1, 3});
    s.on(events::llm_token{"I write, and ", 1});
    s.view.typing(typed);
    s.tick(std::chrono::seconds{1});
    const auto text = s.picture.text();
    INFO(text);
    CHECK(text.find("> /\n") != std::string::npos);
    CHECK((text.find("/row 8\n") != std::string::npos) == (rows == 24));
    // The text and the row of the run are above it.
    CHECK(rows_of(text) <=
          static_cast<std::ptrdiff_t>(std::max<std::size_t>(rows, 3)));
    s.view.typing("> /model");
    s.tick(std::chrono::seconds{2});
    CHECK(s.picture.text().find("/row") == std::string::npos);
    s.view.typing("");
    s.write(s.view.finish("I write, and on\n"));
    CHECK(s.picture.text().find("> ") == std::string::npos);
  }
}
