// SPDX-License-Identifier: MIT
// Every option that `--help` shows occurs in some test.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "runtime/cli/command_tree.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::cli;
namespace fs = std::filesystem;

namespace {

/// Long names, as `--help` has them.
void collect(const command_node& x, std::set<std::string>& names) {
  for (const auto& option : x.options)
    for (const auto& name : option.names)
      if (name.starts_with("--")) names.insert(name);
  for (const auto& command : x.commands) collect(command, names);
}

bool names_option(char c) {
  return c == '-' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/// What looks like a long option in a text.
void collect(const std::string& text, std::set<std::string>& names) {
  for (auto at = text.find("--"); at != std::string::npos;) {
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = std::find_if_not(begin, text.end(), names_option);
    names.emplace(begin, end);
    at = text.find("--", static_cast<std::size_t>(end - text.begin()));
  }
}

std::set<std::string> named_by_tests() {
  const fs::path tests{RIFFLE_SOURCE_DIR "/tests"};
  std::set<std::string> names;
  for (const auto* folder : {"cli", "e2e"})
    for (const auto& x : fs::recursive_directory_iterator{tests / folder}) {
      if (!x.path().filename().string().ends_with("_test.cpp")) continue;
      std::ifstream in{x.path()};
      collect(std::string{std::istreambuf_iterator<char>{in}, {}}, names);
    }
  return names;
}

}  // namespace

TEST_CASE("every option that help shows occurs in a test") {
  std::set<std::string> shown;
  collect(describe_commands(), shown);
  REQUIRE(shown.contains("--workers"));
  const auto tested = named_by_tests();
  std::vector<std::string> without;
  std::ranges::set_difference(shown, tested, std::back_inserter(without));
  CHECK(without == std::vector<std::string>{});
}
