// SPDX-License-Identifier: MIT
#include "runtime/config/home.hpp"

#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using Catch::Matchers::Contains;
using config::resolve_home;
using testing::scoped_env;
using testing::temp_folder;

TEST_CASE("a tilde at the front is the home directory") {
  const scoped_env home{"HOME", "/home/someone"};
  CHECK(resolve_home("~") == "/home/someone");
  CHECK(resolve_home("~/a/b") == "/home/someone/a/b");
  CHECK(resolve_home("/a/~") == "/a/~");
  CHECK(resolve_home("a") == "a");
}

TEST_CASE("where there is no home, none is made up") {
  for (const auto& value :
       {std::optional<std::string>{}, std::optional<std::string>{""},
        std::optional<std::string>{"."}}) {
    const scoped_env home{"HOME", value};
    const auto x = resolve_home("~/a");
    REQUIRE_FALSE(x);
    CHECK(x.error().code == errc::invalid_config);
    CHECK_THAT(x.error().message, Contains("\"~/a\": there is no home"));
    const auto data = config::data_folder({});
    REQUIRE_FALSE(data);
    CHECK_THAT(data.error().message, Contains("runtime.data_dir"));
    CHECK_THAT(data.error().message, Contains("--set runtime.data_dir="));
  }
}

TEST_CASE("homes of other users are an error, not a folder of that name") {
  const scoped_env home{"HOME", "/home/someone"};
  const auto x = resolve_home("~other/a");
  REQUIRE_FALSE(x);
  CHECK_THAT(x.error().message, Contains("./~other/a"));
}

TEST_CASE("where there is no home, the variable beside it is named") {
  const scoped_env home{"HOME", {}};
  const scoped_env state{"XDG_STATE_HOME", "state"};
  const auto x = config::user_folder("XDG_STATE_HOME", "~/s");
  REQUIRE_FALSE(x);
  CHECK(x.error().code == errc::invalid_config);
  CHECK_THAT(x.error().message, Contains("$HOME") &&
                                    Contains("$XDG_STATE_HOME") &&
                                    Contains("set one of them"));
}

TEST_CASE("a folder of the environment counts only if it is absolute") {
  const scoped_env home{"HOME", "/home/someone"};
  const scoped_env set{"XDG_STATE_HOME", "/state"};
  CHECK(config::user_folder("XDG_STATE_HOME", "~/s") == "/state");
  const scoped_env relative{"XDG_STATE_HOME", "state"};
  CHECK(config::user_folder("XDG_STATE_HOME", "~/s") == "/home/someone/s");
}

TEST_CASE("every path of a file may begin with the home directory") {
  const temp_folder home;
  home.write("play.toml", "");
  const auto text = R"(
runtime.data_dir = "~/data"
tools.workspace = "~/work"
agents.default.system_prompt_file = "~/play.toml"
[models.default]
dialect = "scripted"
script = "~/play.toml"
)";
  const auto file = home.write("x.toml", text);
  const scoped_env known{"HOME", home.path()};
  const auto x = config::load({file, {}, {}});
  REQUIRE(x);
  CHECK(config::data_folder(x->runtime) == home.path() / "data");
  CHECK(x->tools.defaults.workspace == home.path() / "work");
  CHECK(config::named_path(*x, x->models.at("default").script) ==
        home.path() / "play.toml");

  const scoped_env unknown{"HOME", {}};
  const auto none = config::load({file, {}, {}});
  REQUIRE_FALSE(none);
  REQUIRE(none.error().size() == 4);
  CHECK_THAT(none.error()[0].message, Contains("runtime.data_dir: \"~/data\""));
  CHECK_THAT(none.error()[1].message, Contains("tools.workspace: \"~/work\""));
  CHECK_THAT(none.error()[2].message, Contains("system_prompt_file: \"~/"));
  CHECK_THAT(none.error()[3].message, Contains("models.default.script: \"~/"));
}
