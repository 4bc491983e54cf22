// SPDX-License-Identifier: MIT
#include "runtime/config/config.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using testing::scoped_directory;
using testing::scoped_env;
using testing::temp_folder;

TEST_CASE("the configuration is found in the order of the contract") {
  const temp_folder folder;
  const temp_folder home;
  const scoped_directory there{folder.path()};
  const scoped_env variable{"RIFFLE_CONFIG", folder.path() / "named.toml"};
  const scoped_env xdg{"XDG_CONFIG_HOME", folder.path() / "xdg"};
  const scoped_env at_home{"HOME", home.path()};
  folder.write("riffle.toml", "");
  folder.write("xdg/riffle/riffle.toml", "");
  home.write(".config/riffle/riffle.toml", "");

  CHECK(config::find_file({"given.toml", {}, {}}) == "given.toml");
  CHECK(config::find_file({}) == folder.path() / "named.toml");
  {
    const scoped_env none{"RIFFLE_CONFIG", {}};
    CHECK(config::find_file({}) == "riffle.toml");
    std::filesystem::remove("riffle.toml");
    CHECK(config::find_file({}) == folder.path() / "xdg/riffle/riffle.toml");
    const scoped_env no_xdg{"XDG_CONFIG_HOME", {}};
    CHECK(config::find_file({}) == home.path() / ".config/riffle/riffle.toml");
    const scoped_env elsewhere{"HOME", folder.path() / "nobody"};
    CHECK_FALSE(config::find_file({}));
  }
  const scoped_env empty{"RIFFLE_CONFIG", ""};
  CHECK(config::find_file({}) == folder.path() / "xdg/riffle/riffle.toml");
}

TEST_CASE("a named file that is not there is a mistake, not the defaults") {
  const temp_folder folder;
  const auto x = config::load({folder.path() / "no.toml", {}, {}});
  REQUIRE_FALSE(x);
  REQUIRE(x.error().size() == 1);
  CHECK(config::render(x.error()[0]) ==
        (folder.path() / "no.toml").string() +
            ": cannot be read: No such file or directory");
}

TEST_CASE("a folder is no configuration") {
  const temp_folder folder;
  const auto x = config::load({folder.path(), {}, {}});
  REQUIRE_FALSE(x);
  CHECK(x.error()[0].message == "is a folder, not a file");
}

TEST_CASE("a tilde at the front is the home directory") {
  const scoped_env home{"HOME", "/home/someone"};
  CHECK(config::expand_home("~") == "/home/someone");
  CHECK(config::expand_home("~/a/b") == "/home/someone/a/b");
  CHECK(config::expand_home("~other/a") == "~other/a");
  CHECK(config::expand_home("/a/~") == "/a/~");
  const scoped_env none{"HOME", {}};
  CHECK(config::expand_home("~/a") == "~/a");
}
