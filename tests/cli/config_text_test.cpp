// SPDX-License-Identifier: MIT
#include "runtime/cli/view/config_text.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "runtime/cli/commands/commands.hpp"
#include "runtime/config/trust_store.hpp"
#include "tests/cli/test_console.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using testing::temp_folder;
using testing::test_console;

namespace {

sourced_setting find(const std::vector<sourced_setting>& all,
                     const std::string& section, const std::string& key) {
  const auto found = std::ranges::find_if(all, [&](const auto& x) {
    return x.setting.section == section && x.setting.key == key;
  });
  REQUIRE(found != all.end());
  return *found;
}

std::string content(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace

TEST_CASE("each setting says where it comes from") {
  const temp_folder folder;
  const auto file = folder.write("x.toml",
                                 "[tools]\n"
                                 "timeout = \"1m\"\n"
                                 "attempts = 7\n"
                                 "[models.default.retry]\n"
                                 "base = \"2s\"\n");
  const auto x = config::load({file, {"runtime.log.level=debug"}, {}});
  REQUIRE(x);
  const auto all = sourced_settings(*x);
  const auto at = [&](int line) {
    return std::filesystem::path{file}.string() + ":" + std::to_string(line);
  };
  CHECK(find(all, "tools", "timeout").source == at(2));
  CHECK(find(all, "models.default.retry", "base").source == at(5));
  CHECK(find(all, "runtime.log", "level").source == "--set");
  CHECK(find(all, "runtime", "threads").source == "default");
  // [tools.bash] has it from [tools], but for its own time limit.
  CHECK(find(all, "tools.bash", "attempts").source == at(3));
  CHECK(find(all, "tools.bash", "timeout").source == "default");
}

TEST_CASE("passwords in addresses are not shown") {
  const auto x = config::load(
      {{}, {"models.default.base_url=https://me:${SECRET}@host/v1?a@b"}, {}});
  REQUIRE(x);
  const auto all = sourced_settings(*x);
  CHECK(find(all, "models.default", "base_url").setting.value ==
        "\"https://…@host/v1?a@b\"");
  CHECK(to_toml(all).find("secret") == std::string::npos);
  CHECK(to_json(all).find("secret") == std::string::npos);
  CHECK(to_json_lines(all).find("secret") == std::string::npos);
}

TEST_CASE("config init writes a file that changes nothing and shows all") {
  const temp_folder folder;
  const testing::scoped_env state{"XDG_STATE_HOME", folder.path() / "state"};
  config_command x;
  x.action = config_command::what::init;
  x.file = folder.path() / "riffle.toml";
  {
    test_console c;
    CHECK(execute(x, c.io) == 0);
    CHECK(c.out.text().empty());
    CHECK(c.err.text().find("config check") != std::string::npos);
    CHECK(c.err.text().find("config trust") != std::string::npos);
  }
  const auto loaded = config::load({x.file, {}, config::builtin_tools()});
  REQUIRE(loaded);
  CHECK(loaded->origins.empty());
  auto text = content(x.file);
  CHECK(text.find("\n# threads = 0 ") != std::string::npos);
  CHECK(text.find("\n[models.default]\n") != std::string::npos);
  // Who wrote it trusts it.
  const auto kept =
      config::trust_store::of_user()->find(config::trust_name(x.file));
  CHECK((kept && *kept && (*kept)->text == text));
  // Never over a file that is there, unless forced.
  std::ofstream{x.file} << "mine";
  {
    test_console c;
    CHECK(execute(x, c.io) == 2);
    CHECK(c.err.text().find("--force") != std::string::npos);
    CHECK(content(x.file) == "mine");
  }
  x.force = true;
  test_console c;
  CHECK(execute(x, c.io) == 0);
  CHECK(content(x.file) == text);
  x.file = folder.path() / "no" / "folder";
  CHECK(execute(x, c.io) == 2);
}
