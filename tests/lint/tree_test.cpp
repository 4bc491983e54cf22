// SPDX-License-Identifier: MIT
// The laws, over every file of the repository.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tests/lint/laws.hpp"
#include "tests/support/catch.hpp"

namespace fs = std::filesystem;
using namespace riffle::lint;

namespace {

/// Not ours, or not text.
bool is_skipped(const fs::path& name) {
  static const std::array<std::string, 4> folders{"build", "data",
                                                  "node_modules", "corpus"};
  return name.string().starts_with(".") ||
         std::ranges::find(folders, name.string()) != folders.end();
}

bool is_source(const fs::path& path) {
  static const std::array<std::string, 8> kinds{
      ".cpp", ".hpp", ".cmake", ".sh", ".py", ".mjs", ".md", ".toml"};
  const auto name = path.filename().string();
  return name == "dev" || name == "CMakeLists.txt" ||
         std::ranges::find(kinds, path.extension().string()) != kinds.end();
}

std::string read(const fs::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// All source files, relative to the root, sorted.
std::vector<std::string> sources(const fs::path& root) {
  std::vector<std::string> found;
  for (auto it = fs::recursive_directory_iterator{root};
       it != fs::recursive_directory_iterator{}; ++it) {
    if (it->is_directory() && is_skipped(it->path().filename()))
      it.disable_recursion_pending();
    else if (it->is_regular_file() && is_source(it->path()))
      found.push_back(it->path().lexically_relative(root).generic_string());
  }
  found.emplace_back(".ci/run");
  std::ranges::sort(found);
  return found;
}

std::string render(const violations& all) {
  std::string text;
  for (const auto& x : all)
    text += "\n  " + x.path + ":" + std::to_string(x.line) + ": " + x.what;
  return text;
}

using law = violations (*)(std::string_view, std::string_view);

void check_tree(law check) {
  const fs::path root{RIFFLE_SOURCE_DIR};
  const auto files = sources(root);
  REQUIRE(files.size() > 20);  // the walk found the tree
  violations all;
  for (const auto& file : files) {
    auto found = check(file, read(root / file));
    all.insert(all.end(), found.begin(), found.end());
  }
  INFO(all.size() << " broken laws:" << render(all));
  CHECK(all.empty());
}

}  // namespace

TEST_CASE("every include of the tree keeps the dependency law") {
  check_tree(&check_includes);
}

TEST_CASE("every file of the tree keeps the text laws") {
  check_tree(&check_text);
}

TEST_CASE("every short header of the tree has its reason") {
  const fs::path root{RIFFLE_SOURCE_DIR};
  std::map<std::string, std::string> all;
  for (const auto& file : sources(root)) all[file] = read(root / file);
  const auto found = check_short_headers(all);
  INFO(found.size() << " broken laws:" << render(found));
  CHECK(found.empty());
}

TEST_CASE("who asks for the bench's help gets it, and no bench") {
  const auto dev = (fs::path{RIFFLE_SOURCE_DIR} / "dev").string();
  auto* out = ::popen(("'" + dev + "' bench --help").c_str(), "r");
  REQUIRE(out != nullptr);
  std::array<char, 4096> text{};
  const auto n = std::fread(text.data(), 1, text.size() - 1, out);
  CHECK(::pclose(out) == 0);
  CHECK(std::string{text.data(), n}.starts_with("usage: ./dev bench"));
}
