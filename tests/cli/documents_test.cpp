// SPDX-License-Identifier: MIT
// What README and docs/ show of the command line is what `--help` has.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cli/command_tree.hpp"
#include "runtime/cli/view/chat_line.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::cli;
namespace fs = std::filesystem;

namespace {

struct document {
  std::string name;
  std::string text;
};

std::vector<document> documents() {
  const fs::path root{RIFFLE_SOURCE_DIR};
  std::vector<fs::path> files{root / "README.md"};
  for (const auto& x : fs::directory_iterator{root / "docs"})
    if (x.path().extension() == ".md") files.push_back(x.path());
  std::vector<document> out;
  for (const auto& x : files) {
    std::ifstream in{x};
    out.push_back(
        {x.filename().string(), {std::istreambuf_iterator<char>{in}, {}}});
  }
  return out;
}

/// Code of a document: whole lines of blocks, and spans of other lines.
std::vector<std::string> code_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in{text};
  bool fenced = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      fenced = !fenced;
    } else if (fenced || line.starts_with("    ")) {
      out.push_back(line);
    } else {
      for (auto at = line.find('`'); at != std::string::npos;) {
        const auto end = line.find('`', at + 1);
        if (end == std::string::npos) break;
        out.push_back(line.substr(at + 1, end - at - 1));
        at = line.find('`', end + 1);
      }
    }
  }
  return out;
}

/// The words of each command of a line that is `riffle`; what is quoted is one
/// word, and shown as "".
std::vector<std::vector<std::string>> commands_of(const std::string& line) {
  std::vector<std::vector<std::string>> out;
  std::vector<std::string> words{""};
  char quote = 0;
  const auto end_word = [&] {
    if (!words.back().empty()) words.emplace_back();
  };
  const auto end_command = [&] {
    end_word();
    words.pop_back();
    const auto begin = std::ranges::find(words, "riffle");
    if (begin != words.end()) out.emplace_back(begin + 1, words.end());
    words = {""};
  };
  for (const char c : line) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
      words.back() += '"';
    } else if (c == '#' && words.back().empty()) {
      break;
    } else if (c == ' ') {
      end_word();
    } else if (std::string_view{"|;&()<>,"}.find(c) != std::string_view::npos) {
      end_command();
    } else {
      words.back() += c;
    }
  }
  end_command();
  return out;
}

const option_node* option_of(const command_node& x, const std::string& word) {
  static const option_node of_all{};
  const auto name = word.substr(0, word.find_first_of("=[…"));
  if (name == "--help" || name == "--version") return &of_all;
  const auto found =
      std::ranges::find_if(x.options, [&](const option_node& one) {
        return std::ranges::find(one.names, name) != one.names.end();
      });
  return found == x.options.end() ? nullptr : &*found;
}

/// `[chat [OPTIONS]]` shows what may be left out.
std::string without_brackets(const std::string& word) {
  const auto begin = std::min(word.find_first_not_of('['), word.size());
  return word.substr(begin, word.find_last_not_of(']') + 1 - begin);
}

/// What is wrong with such a command; nothing: nothing.
std::optional<std::string> mistake_of(const command_node& top,
                                      const std::vector<std::string>& words) {
  const auto* at = &top;
  bool named = false;
  bool is_value = false;
  for (const auto& shown : words) {
    const auto word = without_brackets(shown);
    if (word == "--") return std::nullopt;     // all others are somebody's own
    if (word == "-c" && at == &top) continue;  // riffle alone
    if (word.starts_with("-") && word.size() > 1) {
      const auto* option = option_of(*at, word);
      if (option == nullptr) return word;
      is_value = !option->value.empty() && word.find('=') == word.npos;
    } else if (std::exchange(is_value, false)) {
      continue;
    } else if (!at->commands.empty() && !named) {
      const auto next =
          std::ranges::find(at->commands, word, &command_node::name);
      if (next == at->commands.end()) {
        const bool any = word.find_first_of("…\".ABCDEFGHIJKLMNOPQRSTUVWXYZ") !=
                         std::string::npos;
        if (!any) return word;
        return std::nullopt;
      }
      at = &*next;
    } else {
      named = true;
    }
  }
  return std::nullopt;
}

void leaves(const command_node& x, const std::string& path,
            std::vector<std::string>& out) {
  if (x.commands.empty()) out.push_back(path);
  for (const auto& one : x.commands) leaves(one, path + " " + one.name, out);
}

}  // namespace

TEST_CASE("commands that the documents show have their names and options") {
  const auto top = describe_commands();
  std::size_t seen = 0;
  for (const auto& x : documents())
    for (const auto& line : code_of(x.text))
      for (const auto& words : commands_of(line)) {
        ++seen;
        const auto wrong = mistake_of(top, words);
        if (wrong) FAIL_CHECK(x.name << ": " << *wrong << " in: " << line);
      }
  CHECK(seen > 100);
  // It can tell.
  CHECK(mistake_of(top, {"sesions", "list"}) == "sesions");
  CHECK(mistake_of(top, {"sessions", "lst"}) == "lst");
  CHECK(mistake_of(top, {"sessions", "list", "--al"}) == "--al");
  CHECK(mistake_of(top, {"run", "-m", "x", "--max-step", "3"}) == "--max-step");
  CHECK(mistake_of(top, {"plan", "--approve", "all", "chek"}) == "chek");
  CHECK(mistake_of(top, {"mcp", "ad", "x", "--", "y"}) == "ad");
  CHECK(mistake_of(top, {"[caht", "[OPTIONS]]"}) == "caht");
}

TEST_CASE("the documents name every command that there is") {
  std::vector<std::string> lines;
  for (const auto& x : documents()) {
    std::istringstream in{x.text};
    for (std::string line; std::getline(in, line);) lines.push_back(line);
  }
  std::vector<std::string> paths;
  leaves(describe_commands(), "riffle", paths);
  CHECK(paths.size() > 30);
  for (const auto& path : paths) {
    INFO(path);
    const auto group = path.substr(0, path.find(' ', path.find(' ') + 1));
    const auto name = path.substr(path.rfind(' '));
    CHECK(std::ranges::any_of(lines, [&](const std::string& line) {
      const auto at = line.find(group);
      return at != std::string::npos &&
             line.find(name, at + std::string{"riffle"}.size()) !=
                 std::string::npos;
    }));
  }
}

TEST_CASE("the documents list the commands of a conversation") {
  std::ifstream in{std::string{RIFFLE_SOURCE_DIR} + "/docs/command-line.md"};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  for (const auto& x : chat_commands()) {
    const auto name = "`/" + std::string{x.word};
    INFO(name);
    CHECK(text.find(name) != std::string::npos);
  }
}
