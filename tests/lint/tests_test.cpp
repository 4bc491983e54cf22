// SPDX-License-Identifier: MIT
// Laws of tests: what a test must not do if it is to be believed.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
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

namespace {

/// A file's cases without, and all else with, what stands beside cases.
struct parted {
  std::vector<std::string> cases;
  std::string beside;
};

parted parts_of(const std::string& text) {
  parted out{cases_of(text), text.substr(0, text.find("\nTEST_CASE("))};
  for (auto& one : out.cases) {
    const auto end = std::min(one.find("\nnamespace {\n"), one.size());
    out.beside += one.substr(end);
    one.resize(end);
  }
  return out;
}

/// A program on a terminal, tmux, script.
const std::string on_terminals = "terminal_program |new-session|script -q";

/// These, and the functions and classes of a file that need them, each told by
/// the line that it begins with: one may use the other.
std::regex needs_a_terminal(const std::string& beside) {
  static const std::regex comment{R"(\n *//[^\n]*)"};
  static const std::regex begins{
      R"(\n(?:struct |class |[a-zA-Z][^\n={}();]*[ &*])(\w+)(?:\(| [{:]))"};
  const auto code = std::regex_replace(beside, comment, "");
  auto words = on_terminals;
  for (std::size_t before = 0; before != words.size();) {
    before = words.size();
    const std::regex needs{words};
    std::size_t begin = 0;
    for (auto end = code.find("\n}"); end != std::string::npos;
         end = code.find("\n}", begin)) {
      const auto block = code.substr(begin, end - begin);
      begin = end + 2;
      if (!std::regex_search(block, needs)) continue;
      std::string name;
      for (std::sregex_iterator i{block.begin(), block.end(), begins}, none;
           i != none; ++i)
        name = R"(|\b)" + (*i)[1].str() + R"(\b)";
      if (!has(words, name)) words += name;
    }
  }
  return std::regex{words};
}

}  // namespace

TEST_CASE("a test that needs a terminal says so where there is none") {
  int found = 0;
  std::set<std::string> files;
  for (const auto& [file, text] : sources()) {
    if (!file.ends_with("_test.cpp") || file.starts_with("lint/")) continue;
    const auto parts = parts_of(text);
    const auto needs = needs_a_terminal(parts.beside);
    for (const auto& one : parts.cases) {
      if (!std::regex_search(one, needs)) continue;
      INFO(file << ": " << one.substr(0, one.find('\n')));
      CHECK(has(one, "has_terminals()"));
      files.insert(file);
      ++found;
    }
  }
  WARN(found << " cases in " << files.size() << " files need a terminal");
  CHECK(files.contains("e2e/judges_test.cpp"));  // tmux, and no such program
  CHECK(files.contains("cli/tmux_test.cpp"));
  CHECK(found >= 80);
}

namespace {

struct promise {
  std::string name;
  std::string tests;  ///< where it is tested
};

/// The rows of a table whose first line begins so, each of so many cells; the
/// first and the third tell its name and its tests.
std::vector<promise> rows_of(const std::string& page, const std::string& head,
                             std::size_t width) {
  std::ifstream in{tests / page};
  std::vector<promise> all;
  bool below = false;
  for (std::string line; std::getline(in, line);) {
    const bool is_head = line.starts_with(head);
    below = below || is_head;
    if (!below || is_head || !line.starts_with("| ")) continue;
    if (line.ends_with(" |")) line.resize(line.size() - 2);
    std::vector<std::string> cells;
    const std::string_view between = " | ";
    for (std::size_t at = 2; at != std::string::npos;) {
      const auto end = line.find(between, at);
      cells.push_back(line.substr(at, end - at));
      at = end == std::string::npos ? end : end + between.size();
    }
    INFO(page << ": " << line.substr(0, 60));
    REQUIRE(cells.size() == width);
    all.push_back({cells[0], cells[2]});
  }
  return all;
}

/// Of the suites, one by one.
std::vector<promise> suites() {
  return rows_of("README.md", "| Name | Promise |", 4);
}

/// Of what attacks found, point by point.
std::vector<promise> points() {
  return rows_of("adversarial.md", "| Point | Promise |", 3);
}

std::vector<promise> promises() {
  auto all = suites();
  for (auto& x : points()) all.push_back(std::move(x));
  return all;
}

/// Texts in quotation marks, `\"` left as it is.
std::vector<std::string> quoted(const std::string& text) {
  std::vector<std::string> all;
  auto at = text.find('"');
  while (at != std::string::npos) {
    auto end = text.find('"', at + 1);
    while (end != std::string::npos && text[end - 1] == '\\')
      end = text.find('"', end + 1);
    if (end == std::string::npos) break;
    all.push_back(text.substr(at + 1, end - at - 1));
    at = text.find('"', end + 1);
  }
  return all;
}

/// The last file that is named in a text, with its ending; else none.
std::string last_file(const std::string& text) {
  std::string file;
  static const std::regex one{R"([a-z0-9_]+/[a-z0-9_/]+(\.[ch]pp)?)"};
  for (std::sregex_iterator i{text.begin(), text.end(), one}, none; i != none;
       ++i) {
    auto word = i->str();
    if (word.starts_with("tests/")) word.erase(0, 6);
    if (!fs::is_directory(tests / word.substr(0, word.find('/')))) continue;
    file = (*i)[1].matched ? word : word + ".cpp";
  }
  return file;
}

/// Each case in quotation marks, with the file that is named before it.
std::vector<std::pair<std::string, std::string>> cases_named(
    const std::string& text) {
  std::vector<std::pair<std::string, std::string>> all;
  std::string file;
  std::size_t at = 0;
  for (const auto& name : quoted(text)) {
    const auto begin = text.find('"' + name + '"', at);
    const auto before = last_file(text.substr(at, begin - at));
    if (!before.empty()) file = before;
    at = begin + name.size() + 2;
    all.emplace_back(file, name);
  }
  return all;
}

/// `…` stands for what is left out of a name.
bool has_all_parts(const std::string& text, std::string name) {
  const std::string_view left_out = "…";
  while (!name.empty()) {
    const auto cut = name.find(left_out);
    auto part = name.substr(0, cut);
    while (part.ends_with(' ')) part.pop_back();
    while (part.starts_with(' ')) part.erase(0, 1);
    if (!has(text, part)) return false;
    name.erase(0, cut == name.npos ? cut : cut + left_out.size());
  }
  return true;
}

/// Literals that stand side by side are one.
std::string joined(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto next = text.find_first_not_of(" \n", at + 1);
    if (text[at] == '"' && next != std::string::npos && text[next] == '"' &&
        text.find('\n', at) < next)
      at = next;
    else
      out.push_back(text[at]);
  }
  return out;
}

/// Of cases and sections, not what comments say of them.
std::vector<std::string> case_names(const std::string& text) {
  static const std::regex opening{
      R"re(\n *(?:TEMPLATE_TEST_CASE|TEST_CASE|TEST_CASE_METHOD|SECTION)\()re"
      R"re(\s*(?:\w+,\s*)?"((?:[^"\\]|\\.)*)")re"};
  std::vector<std::string> all;
  for (std::sregex_iterator at{text.begin(), text.end(), opening}, end;
       at != end; ++at)
    all.push_back((*at)[1].str());
  return all;
}

}  // namespace

TEST_CASE("the rows of the table of promises have names of their own") {
  std::set<std::string> names;
  for (const auto& row : suites()) {
    INFO(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") ==
          std::string::npos);
  }
  CHECK(names.size() > 90);
}

TEST_CASE("each point that attacks found names tests") {
  std::set<std::string> names;
  for (const auto& row : points()) {
    INFO(row.name << ": " << row.tests);
    CHECK(has(row.tests, "_test"));
    names.insert(row.name);
  }
  CHECK(names.size() == 23);
}

TEST_CASE("the cases that the table of promises names are in its files") {
  std::map<std::string, std::vector<std::string>> all;
  for (const auto& [file, text] : sources())
    all.emplace(file, case_names(joined(text)));
  std::size_t named = 0;
  for (const auto& row : promises())
    for (const auto& [file, name] : cases_named(row.tests)) {
      INFO(row.name << ": " << file << ": " << name);
      REQUIRE(all.contains(file));
      CHECK(std::ranges::any_of(all.at(file), [&](const auto& of_file) {
        return has_all_parts(of_file, name);
      }));
      ++named;
    }
  CHECK(named > 150);
}

TEST_CASE("a case belongs to the file that a row names before it") {
  using named = std::vector<std::pair<std::string, std::string>>;
  CHECK(cases_named(
            R"(`core/a_test`: "one", "two"; tests/api/b_test.cpp: "x")") ==
        named{{"core/a_test.cpp", "one"},
              {"core/a_test.cpp", "two"},
              {"api/b_test.cpp", "x"}});
  CHECK(cases_named(R"("of no file")") == named{{"", "of no file"}});
  CHECK(has_all_parts("begins here, ends there", "begins … ends there"));
  CHECK_FALSE(has_all_parts("begins here", "begins … ends there"));
  CHECK(case_names("\n// TEST_CASE(\"told\")\nTEST_CASE(\"one, \", \"[x]\") {\n"
                   "  SECTION(\"two\")") ==
        std::vector<std::string>{"one, ", "two"});
}

TEST_CASE("the table of the adversarial suites names files that there are") {
  std::size_t named = 0;
  for (const auto& [name, where] : promises()) {
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
      const bool is_file = slash != word.npos && slash > 0 && word[0] != '.' &&
                           fs::is_directory(tests / word.substr(0, slash));
      if (!is_file) continue;
      ++named;
      INFO(name << ": " << word);
      CHECK((fs::exists(tests / word) || fs::exists(tests / (word + ".cpp"))));
    }
  }
  CHECK(named > 100);
}
