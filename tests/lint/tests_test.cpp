// SPDX-License-Identifier: MIT
// Laws of tests: what a test must not do if it is to be believed.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace fs = std::filesystem;

namespace {

const fs::path tests{RIFFLE_SOURCE_DIR "/tests"};

std::map<std::string, std::string> sources() {
  std::map<std::string, std::string> all;
  for (const auto& x : fs::recursive_directory_iterator{tests}) {
    const auto kind = x.path().extension();
    if (kind != ".cpp" && kind != ".hpp") continue;
    std::ifstream in{x.path(), std::ios::binary};
    all.emplace(x.path().lexically_relative(tests).string(),
                std::string{std::istreambuf_iterator<char>{in}, {}});
  }
  return all;
}

/// The test cases of a file, each from its name to the next one.
std::vector<std::string> cases_of(const std::string& text) {
  std::vector<std::string> all;
  const std::string head = "\nTEST_CASE(";
  for (auto at = text.find(head); at != std::string::npos;) {
    const auto next = text.find(head, at + 1);
    all.push_back(text.substr(at + 1, next - at - 1));
    at = next;
  }
  return all;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("seeds come from where they are printed") {
  for (const auto& [file, text] : sources()) {
    if (file == "support/session.cpp" || file == "lint/tests_test.cpp" ||
        file.starts_with("bench/"))
      continue;
    INFO(file);
    CHECK_FALSE(has(text, "random_device"));
  }
}

TEST_CASE("a test that needs a terminal says so where there is none") {
  int found = 0;
  for (const auto& [file, text] : sources()) {
    if (!has(text, "terminal_program.hpp\"") || !file.ends_with("_test.cpp"))
      continue;
    for (const auto& one : cases_of(text)) {
      if (!has(one, "terminal_program ")) continue;
      INFO(file << ": " << one.substr(0, one.find('\n')));
      CHECK(has(one, "has_terminals()"));
      ++found;
    }
  }
  CHECK(found >= 17);
}

TEST_CASE("the table of the adversarial suites names files that there are") {
  std::ifstream in{tests / "README.md"};
  std::size_t named = 0;
  bool below = false;
  for (std::string line; std::getline(in, line);) {
    below = below || line == "## The adversarial suites";
    if (!below || !line.starts_with("| ")) continue;
    const auto second = line.find(" | ");
    const auto third = line.find(" | ", second + 1);
    const auto where = line.substr(second + 1, third - second);
    for (std::size_t at = 0; at < where.size(); ++at) {
      const auto end = std::min(
          where.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789"
                                  "/.",
                                  at),
          where.size());
      auto word = where.substr(at, end - at);
      at = end;
      while (word.ends_with('.')) word.pop_back();
      if (word.starts_with("tests/")) word.erase(0, 6);
      const auto slash = word.find('/');
      const bool is_file = slash != word.npos && slash > 0 &&
                           fs::is_directory(tests / word.substr(0, slash));
      if (!is_file) continue;
      ++named;
      INFO(line.substr(0, second) << ": " << word);
      CHECK((fs::exists(tests / word) || fs::exists(tests / (word + ".cpp"))));
    }
  }
  CHECK(named > 100);
}
