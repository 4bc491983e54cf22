// SPDX-License-Identifier: MIT
#include "runtime/config/home.hpp"
#include "runtime/config/source.hpp"
#include "runtime/config/trust_store.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using testing::scoped_directory;
using testing::scoped_env;
using testing::temp_folder;

namespace {

/// Empty: none.
std::filesystem::path found(const config::load_request& request) {
  const auto x = find_source(request);
  REQUIRE(x);
  return x->file;
}

}  // namespace

TEST_CASE("the configuration is found in the order of the contract") {
  const temp_folder folder;
  const temp_folder home;
  const scoped_directory there{folder.path()};
  const scoped_env variable{"RIFFLE_CONFIG", folder.path() / "named.toml"};
  const scoped_env xdg{"XDG_CONFIG_HOME", folder.path() / "xdg"};
  const scoped_env at_home{"HOME", home.path()};
  folder.write("riffle.toml", "publish.batching = \"token\"");
  folder.write("xdg/riffle/riffle.toml", "");
  home.write(".config/riffle/riffle.toml", "");

  CHECK(found({"given.toml", {}, {}}) == "given.toml");
  CHECK(found({}) == folder.path() / "named.toml");
  {
    const scoped_env none{"RIFFLE_CONFIG", {}};
    CHECK(found({}) == "riffle.toml");
    std::filesystem::remove("riffle.toml");
    CHECK(found({}) == folder.path() / "xdg/riffle/riffle.toml");
    const scoped_env no_xdg{"XDG_CONFIG_HOME", {}};
    CHECK(found({}) == home.path() / ".config/riffle/riffle.toml");
    const scoped_env elsewhere{"HOME", folder.path() / "nobody"};
    CHECK(found({}).empty());
  }
  const scoped_env empty{"RIFFLE_CONFIG", ""};
  CHECK(found({}) == folder.path() / "xdg/riffle/riffle.toml");
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

TEST_CASE("only the file of the working folder is one that nobody named") {
  const temp_folder folder;
  const temp_folder home;
  const scoped_directory there{folder.path()};
  const scoped_env variable{"RIFFLE_CONFIG", {}};
  const scoped_env xdg{"XDG_CONFIG_HOME", {}};
  const scoped_env at_home{"HOME", home.path()};
  home.write(".config/riffle/riffle.toml", "");
  CHECK_FALSE(config::find_source({})->found_in_folder);
  folder.write("riffle.toml", "publish.batching = \"token\"");
  CHECK(config::find_source({})->found_in_folder);
  CHECK_FALSE(config::find_source({"riffle.toml", {}, {}})->found_in_folder);
  CHECK(config::find_own_source({})->file ==
        home.path() / ".config/riffle/riffle.toml");
  {
    const scoped_env named{"RIFFLE_CONFIG", "riffle.toml"};
    CHECK_FALSE(config::find_source({})->found_in_folder);
  }
  // Who works in the folder of the own file finds the own file.
  const scoped_directory at{home.path() / ".config/riffle"};
  CHECK_FALSE(config::find_source({})->found_in_folder);
}

TEST_CASE("a file of the folder that sets nothing takes nobody's place") {
  const temp_folder folder;
  const temp_folder home;
  const scoped_directory there{folder.path()};
  const scoped_env variable{"RIFFLE_CONFIG", {}};
  const scoped_env xdg{"XDG_CONFIG_HOME", {}};
  const scoped_env at_home{"HOME", home.path()};
  const scoped_env state{"XDG_STATE_HOME", {}};
  const std::string comments = "# model = \"x\"\n[models.default]\n";
  folder.write("riffle.toml", comments);
  CHECK(config::find_source({})->found_in_folder);  // there is no other one
  const auto own =
      home.write(".config/riffle/riffle.toml", "agents.default.max_steps = 7");
  CHECK_FALSE(config::find_source({})->found_in_folder);
  CHECK(found({}) == own);
  const auto store = config::trust_store::of_user();
  REQUIRE(store);
  const auto name = config::trust_name("riffle.toml");
  REQUIRE(store->trust(name, comments, wall_time{1}));
  CHECK(config::find_source({})->found_in_folder);  // it shall count
  REQUIRE(store->revoke(name));
  const auto loaded = config::load({});
  REQUIRE(loaded);
  CHECK(loaded->agents.at("default").max_steps == 7);
  for (const std::string text :
       {"agents.default.max_steps = 3", "[models.default]\nmodel = \"x\"",
        "[[tools.bash.rules]]", "not toml"}) {
    CAPTURE(text);
    folder.write("riffle.toml", text);
    CHECK(config::find_source({})->found_in_folder);
    CHECK(found({}) == "riffle.toml");
  }
}

TEST_CASE("a link to the own file leads to no file beside the link") {
  const temp_folder folder;
  const temp_folder home;
  const scoped_directory there{folder.path()};
  const scoped_env variable{"RIFFLE_CONFIG", {}};
  const scoped_env xdg{"XDG_CONFIG_HOME", {}};
  const scoped_env at_home{"HOME", home.path()};
  const auto own = home.write(".config/riffle/riffle.toml",
                              "[tools.mine]\ntype = \"command\"\n"
                              "description = \"Mine.\"\n"
                              "command = [\"./mine.sh\"]\n"
                              "parameters = { type = \"object\" }\n"
                              "[models.default]\ndialect = \"scripted\"\n"
                              "script = \"s.toml\"\n");
  std::filesystem::permissions(home.write(".config/riffle/mine.sh", ""),
                               std::filesystem::perms::owner_all);
  home.write(".config/riffle/s.toml", "");
  std::filesystem::create_symlink(own, "riffle.toml");
  const auto x = config::find_source({});
  REQUIRE(x);
  CHECK_FALSE(x->found_in_folder);
  CHECK(x->file == own);
  const auto loaded = config::load({});
  REQUIRE(loaded);
  CHECK(config::named_path(*loaded, "s.toml") == own.parent_path() / "s.toml");
  std::filesystem::remove("riffle.toml");
  std::filesystem::create_hard_link(own, "riffle.toml");
  CHECK(found({}) == own);
}

TEST_CASE("without a home nothing is looked for in a folder named ~") {
  const temp_folder folder;
  const scoped_directory there{folder.path()};
  const scoped_env variable{"RIFFLE_CONFIG", {}};
  const scoped_env xdg{"XDG_CONFIG_HOME", {}};
  const scoped_env home{"HOME", {}};
  folder.write("~/.config/riffle/riffle.toml", "");
  folder.write(".config/riffle/riffle.toml", "");
  CHECK(found({}).empty());
  {
    const scoped_env relative{"HOME", "."};
    CHECK(found({}).empty());
    const scoped_env also{"XDG_CONFIG_HOME", ".config"};
    CHECK(found({}).empty());
  }
  const scoped_env named{"RIFFLE_CONFIG", "~/.config/riffle/riffle.toml"};
  const auto x = config::find_source({});
  REQUIRE_FALSE(x);
  CHECK(x.error().file == "$RIFFLE_CONFIG");
  CHECK_THAT(x.error().message, Catch::Matchers::Contains("$HOME"));
}

TEST_CASE("an empty name names no file") {
  const auto x = config::load({"", {}, {}});
  REQUIRE_FALSE(x);
  CHECK(render(x.error()[0]) == "--config: names no file");
}
