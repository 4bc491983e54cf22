// SPDX-License-Identifier: MIT
#include "runtime/cli/view/changes_text.hpp"

#include "tests/support/catch.hpp"

using namespace riffle::cli;

TEST_CASE("a change that is taken back has the heading of a change") {
  const std::string diff =
      "--- a/src/a.cpp\n+++ b/src/a.cpp\n@@ -1,2 +1,3 @@\n one\n-two\n"
      "+2\n+3\n";
  CHECK(change_text("./src/a.cpp", diff, false) ==
        "src/a.cpp  +2 -1\n@@ -1,2 +1,3 @@\n one\n-two\n+2\n+3\n");
  CHECK(change_text("a", diff, true)
            .starts_with("\x1b[1ma  +2 -1\x1b[0m\n@@ -1,2"));
}
