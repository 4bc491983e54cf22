// SPDX-License-Identifier: MIT
#include "runtime/cli/view/session_text.hpp"

#include <cstdlib>
#include <ctime>

#include "runtime/cli/terminal/text_width.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

namespace {

constexpr wall_time now{1'763'900'000'000'000};

wall_time before(std::int64_t seconds) {
  return {now.us - seconds * 1'000'000};
}

}  // namespace

TEST_CASE("times are relative, old ones are local dates") {
  CHECK(ago(before(3), now) == "just now");
  CHECK(ago(before(-50), now) == "just now");
  CHECK(ago(before(60), now) == "1 min ago");
  CHECK(ago(before(7200), now) == "2 h ago");
  const char* zone = std::getenv("TZ");
  const std::string old = zone ? zone : "";
  // 2025-11-20T23:30Z is the 21st there.
  const wall_time late{1'763'681'400'000'000};
  ::setenv("TZ", "UTC-3", 1);
  ::tzset();
  CHECK(ago(late, now) == "2025-11-21");
  ::setenv("TZ", "UTC0", 1);
  ::tzset();
  CHECK(ago(late, now) == "2025-11-20");
  zone ? ::setenv("TZ", old.c_str(), 1) : ::unsetenv("TZ");
  ::tzset();
}

TEST_CASE("a list shows endings of ids, titles and who was interrupted") {
  CHECK(short_id("ses_01kaqr9v5rmk8t4w3k3f9qz") == "k3f9qz");
  CHECK(short_id("notes") == "notes");
  session_summary x;
  x.id = {"ses_01kaqr9v5rmk8t4w3k3f9qz"};
  x.runs = 2;
  x.last.started = before(180);
  x.last.task = "and now\nthis";
  x.interrupted = true;
  CHECK(summary_text(x, now, 0) ==
        "k3f9qz  3 min ago   interrupted  2 runs   and now this\n");
  x.title = "Mend the build";
  CHECK(summary_text(x, now, 0) ==
        "k3f9qz  3 min ago   interrupted  2 runs   Mend the build\n");
  for (const std::size_t columns : {20, 40, 60}) {
    const auto line = summary_text(x, now, columns);
    CHECK(columns_of(line.substr(0, line.size() - 1)) < columns);
  }
}
