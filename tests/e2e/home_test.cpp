// SPDX-License-Identifier: MIT
// What a program of these tests takes for its user's home.
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;

TEST_CASE("a program of these tests has a home of its own") {
  const work_folder folder;
  program shell{"/bin/sh",
                folder,
                {"-c",
                 "echo \"$HOME|$XDG_CONFIG_HOME|$XDG_STATE_HOME|"
                 "$XDG_DATA_HOME|$XDG_CACHE_HOME\""}};
  const auto own = folder.path().string();
  CHECK(shell.wait().out == own + "/home||" + own + "/state||\n");
}
