// SPDX-License-Identifier: MIT
// A configuration that was found in the folder, and who trusts it.
#include "runtime/config/trust.hpp"

#include "runtime/base/digest.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using Catch::Matchers::Contains;
using testing::scoped_directory;
using testing::scoped_env;
using testing::temp_folder;

namespace {

/// A folder that somebody works in, with a home of their own.
struct place {
  temp_folder home;
  temp_folder folder;
  scoped_directory there{folder.path()};
  scoped_env at_home{"HOME", home.path()};
  scoped_env named{"RIFFLE_CONFIG", {}};
  scoped_env config{"XDG_CONFIG_HOME", {}};
  scoped_env state{"XDG_STATE_HOME", {}};
};

config::trust_state judged() {
  auto from = config::find_source({}).and_then(config::read_source);
  REQUIRE(from);
  auto x = judge_trust(*from);
  REQUIRE(x);
  return *x;
}

void trust_now() {
  const auto x = judged();
  const auto store = config::trust_store::of_user();
  REQUIRE(store);
  REQUIRE(store->trust(x.file, x.text, wall_time{1}));
}

std::vector<std::string> names_of(const std::vector<config::set_key>& keys) {
  std::vector<std::string> out;
  for (const auto& x : keys) out.push_back(x.key);
  return out;
}

using names = std::vector<std::string>;

}  // namespace

TEST_CASE("limits may be lowered without trust, never raised or taken away") {
  const auto needs = [](const std::string& text) {
    return !config::keys_that_need_trust(text).empty();
  };
  CHECK_FALSE(needs("agents.default.max_steps = 1"));
  CHECK_FALSE(needs("agents.other.max_steps = 30"));
  CHECK(needs("agents.default.max_steps = 31"));
  CHECK(needs("agents.default.max_steps = 0"));
  CHECK(needs("agents.default.max_steps = -5"));
  CHECK(needs("agents.default.loop_limit = 0"));
  CHECK(needs("agents.default.loop_limit = 6"));
  CHECK_FALSE(needs("agents.default.budget.tokens = 5"));
  CHECK(needs("agents.default.budget.tokens = nan"));
  CHECK(needs("agents.default.max_steps.more = 1"));
  CHECK(needs("default.max_steps = 1"));
  CHECK(needs("agents.max_steps = 1"));
  CHECK(needs("agents.a.b.max_steps = 1"));
}

TEST_CASE("what a file sets is told key by key, as TOML") {
  const auto keys = config::keys_that_need_trust(R"(
[tools.bash]
rules = [{ match = "git *", approval = "allow" }]
timeout = "5m"
[models.default]
temperature = 0.5
base_url = "http://a\u001B[2Jb\n"
streaming = false
[agents.default]
max_steps = 3
tools = ["bash", 'read']
)");
  REQUIRE(keys.size() == 6);
  CHECK(keys[0] ==
        config::set_key{"tools.bash.rules",
                        R"([{ "approval" = "allow", "match" = "git *" }])", 3});
  CHECK(keys[1] == config::set_key{"tools.bash.timeout", "\"5m\"", 4});
  CHECK(keys[2] == config::set_key{"models.default.temperature", "0.5", 6});
  CHECK(keys[3] == config::set_key{"models.default.base_url",
                                   R"("http://a\u001B[2Jb\n")", 7});
  CHECK(keys[4] == config::set_key{"models.default.streaming", "false", 8});
  CHECK(keys[5] ==
        config::set_key{"agents.default.tools", R"(["bash", "read"])", 11});
}

TEST_CASE("a file of the folder counts once the person trusted it") {
  const place x;
  x.folder.write("riffle.toml", "models.default.base_url = \"http://evil/\"");
  auto first = judged();
  CHECK_FALSE(first.trusted);
  CHECK_FALSE(first.before);
  CHECK(names_of(first.keys) == names{"models.default.base_url"});
  const auto refused = config::load({});
  REQUIRE_FALSE(refused);
  CHECK_THAT(render(refused.error()[0]),
             Contains("riffle.toml: is not trusted; it sets "
                      "models.default.base_url") &&
                 Contains("riffle config trust"));

  trust_now();
  CHECK(judged().trusted);
  CHECK(config::load({}));

  x.folder.write("riffle.toml", "models.default.base_url = \"http://evil2/\"");
  const auto changed = judged();
  CHECK_FALSE(changed.trusted);
  REQUIRE(changed.before);
  CHECK(changed.before->text == "models.default.base_url = \"http://evil/\"");
  CHECK_THAT(trust_problem(changed), Contains("it was changed"));
}

TEST_CASE("a file that a person named needs no trust") {
  const place x;
  x.folder.write("riffle.toml", "models.default.base_url = \"http://mine/\"");
  CHECK(config::load({"riffle.toml", {}, {}}));
  const scoped_env named{"RIFFLE_CONFIG", "riffle.toml"};
  CHECK(config::load({}));
}

TEST_CASE("harmless keys need no trust, but a file does that hides one's own") {
  const place x;
  x.folder.write("riffle.toml", "agents.default.max_steps = 2");
  CHECK(judged().trusted);
  CHECK(config::load({})->agents.at("default").max_steps == 2);
  // With it the rules of the person's own file would be gone.
  x.home.write(".config/riffle/riffle.toml", "tools.bash.approval = \"deny\"");
  const auto hides = judged();
  CHECK_FALSE(hides.trusted);
  CHECK(hides.displaces == x.home.path() / ".config/riffle/riffle.toml");
  CHECK_THAT(trust_problem(hides), Contains("it takes the place of"));
}

TEST_CASE("trust is of one place: not of a copy, nor of what a link leads to") {
  const place x;
  const std::string text = "tools.own.command = [\"./run.sh\"]";
  x.folder.write("riffle.toml", text);
  trust_now();
  const temp_folder other;
  other.write("riffle.toml", text);
  {
    const scoped_directory there{other.path()};
    CHECK_FALSE(judged().trusted);
  }
  std::filesystem::remove(other.path() / "riffle.toml");
  std::filesystem::create_symlink(x.folder.path() / "riffle.toml",
                                  other.path() / "riffle.toml");
  {
    const scoped_directory there{other.path()};
    CHECK_FALSE(judged().trusted);
    // The other way to the same folder is no other place.
  }
  std::filesystem::create_directory_symlink(x.folder.path(),
                                            other.path() / "way");
  const scoped_directory there{other.path() / "way"};
  CHECK(judged().trusted);
}

TEST_CASE("without a home nothing is trusted, and the rest works") {
  const place x;
  const scoped_env none{"HOME", {}};
  CHECK(config::load({}));
  x.folder.write("riffle.toml", "tools.bash.approval = \"allow\"");
  CHECK_FALSE(judged().trusted);
}
