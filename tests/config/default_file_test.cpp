// SPDX-License-Identifier: MIT
#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "runtime/config/config.hpp"
#include "runtime/config/document.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace std::chrono_literals;

namespace {

const std::filesystem::path default_file =
    std::filesystem::path{RIFFLE_SOURCE_DIR} / "configs" / "default.toml";

config::config load_file(const std::filesystem::path& file) {
  auto x = config::load({file, {}, config::builtin_tools()});
  if (!x) {
    for (const auto& m : x.error()) UNSCOPED_INFO(config::render(m));
  }
  REQUIRE(x);
  return *x;
}

void collect(const config::value& x, const std::string& path,
             std::set<std::string>& out) {
  if (x.type != config::kind::table || x.items.empty()) {
    out.insert(path);
    return;
  }
  for (const auto& item : x.items) {
    collect(item, path.empty() ? item.key : path + "." + item.key, out);
  }
}

void check_same(const std::vector<config::setting>& a,
                const std::vector<config::setting>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(a[i].section, a[i].key);
    CHECK(a[i].section == b[i].section);
    CHECK(a[i].key == b[i].key);
    CHECK(a[i].value == b[i].value);
  }
}

}  // namespace

TEST_CASE("default.toml has the defaults of the structs") {
  check_same(config::settings(load_file(default_file)),
             config::settings(config::config{}));
}

TEST_CASE("default.toml lists every key, and explains it") {
  std::ifstream in{default_file};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  const auto document = config::parse_toml(text, "default.toml");
  REQUIRE(document);
  std::set<std::string> there;
  collect(*document, "", there);
  for (const auto& s : config::settings(config::config{})) {
    // One tool's table has the keys of [tools].
    if (s.section.starts_with("tools.") && s.key != "allow") continue;
    const auto key = s.section + "." + s.key;
    CAPTURE(key);
    CHECK(there.contains(key));
  }
  CHECK(std::ranges::count(text, '#') > 50);
}

TEST_CASE("what is shown reads back to the same settings") {
  const testing::temp_folder folder;
  config::config x;
  x.models["second"].parameters.temperature = 0.5;
  x.models["second"].parameters.seed = -5;
  x.models["second"].parameters.parallel_tool_calls = true;
  x.models["second"].headers.text = R"({"X-A":"it's"})";
  x.models["groq/llama-3.3:70b"] = {};
  x.models["second"].price.input = 0.1;
  x.agents["second"].system_prompt = "quote \" slash \\ line\n tab\t bell\a é";
  x.agents["second"].model = "second";
  x.tools.by_name["read"].timeout = 1500ms;
  x.tools.by_name["read"].output_limit = 7;
  x.tools.by_name["bash"].rules = {{"say \"hi\" *", "deny"}, {"ls*", "allow"}};
  x.agents["second"].exempt_phases = {"a \"b\"", ""};
  x.runtime.data_dir = "/tmp/x";
  const auto file = folder.write("shown.toml", config::to_toml(x));
  check_same(config::settings(load_file(file)), config::settings(x));
}

TEST_CASE("without a file the built-in defaults hold") {
  const testing::temp_folder folder;
  const testing::scoped_directory there{folder.path()};
  const testing::scoped_env none{"RIFFLE_CONFIG", {}};
  const testing::scoped_env xdg{"XDG_CONFIG_HOME", folder.path().string()};
  const auto x = config::load({});
  REQUIRE(x);
  CHECK(x->file.empty());
  CHECK(x->base_dir == std::filesystem::current_path());
  check_same(config::settings(*x), config::settings(config::config{}));
}

TEST_CASE("the demo's configuration has no mistakes") {
  const auto x = load_file(default_file.parent_path() / "demo.toml");
  CHECK(x.models.at("default").dialect == "scripted");
  CHECK(x.tools.approval_of("bash", effect::mutating) == "allow");
}
