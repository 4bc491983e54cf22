// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/waiting_log.hpp"

#include <string>

#include "runtime/base/log.hpp"
#include "tests/cli/test_console.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

TEST_CASE("of lines that wait for long the last ones stay, and are counted") {
  last_lines lines;
  CHECK(lines.take().empty());
  for (int i = 1; i <= 2003; ++i) {
    lines.add(std::to_string(i) + "\n");
    lines.add("");
  }
  const auto all = lines.take();
  CHECK(all.starts_with("… 1003 lines of the log left out …\n1004\n"));
  CHECK(all.ends_with("\n2003\n"));
  CHECK(lines.take().empty());
  lines.add("one more\n");
  CHECK(lines.take() == "one more\n");
}

TEST_CASE(
    "lines that wait have a limit of bytes, and the newest always stays") {
  last_lines lines;
  const std::string long_line(last_lines::most_bytes / 2, 'a');
  lines.add("first\n");
  lines.add(long_line + "\n");
  lines.add(long_line + "\n");
  CHECK(lines.take() == "… 2 lines of the log left out …\n" + long_line + "\n");
  lines.add(long_line + long_line + long_line + "\n");
  CHECK(lines.take().size() > last_lines::most_bytes);
}

TEST_CASE("a log that nobody may see yet holds no more than its last lines") {
  testing::test_console c;
  {
    waiting_log log{c.io.err, std::nullopt};
    const held_log held{&log};
    for (int i = 0; i < 1100; ++i) log_warn("test", "n" + std::to_string(i));
    CHECK(c.err.text().empty());
  }
  const auto text = c.err.text();
  CHECK(text.find("… 100 lines of the log left out …\n") == 0);
  CHECK(text.find(" n99\n") == std::string::npos);
  CHECK(text.find(" n100\n") != std::string::npos);
  CHECK(text.find(" n1099\n") != std::string::npos);
}
