// SPDX-License-Identifier: MIT
#include "tools/builtin/shell/program_basis.hpp"

#include <algorithm>
#include <cstdint>
#include <fnmatch.h>
#include <set>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "actors/core/command_table.hpp"
#include "actors/core/plain_command.hpp"
#include "actors/core/shell_parts.hpp"
#include "tools/process/content_digest.hpp"

namespace riffle::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_programs = 1000;
constexpr std::size_t most_folders = 8;
constexpr std::uintmax_t most_read = std::uintmax_t{64} << 20;

class found_programs {
 public:
  explicit found_programs(const fs::path& workspace) : folders_{workspace} {}

  /// `any`: also a file that may not be executed.
  void add(std::string_view word, bool any) {
    if (word.empty()) return;
    for (const auto& folder : folders_) {
      const auto file = (folder / word).lexically_normal();
      if (seen_.size() == most_programs) return;
      if (!any && ::access(file.c_str(), X_OK) != 0) continue;
      if (!seen_.insert(file.string()).second) continue;
      if (const auto holds = content_of(file); !holds.empty())
        text_.append("\n").append(word).append("\n").append(holds);
    }
  }

  /// The files that a pattern has now, by its last part.
  void add_all(const std::string& pattern, bool any) {
    const fs::path where{pattern};
    const auto names = where.filename().string();
    for (const auto& folder : std::vector{folders_}) {
      std::error_code failed;
      std::size_t left = most_programs;
      fs::directory_iterator at{folder / where.parent_path(), failed};
      for (; !failed && at != fs::end(at) && left > 0;
           at.increment(failed), --left)
        if (const auto name = at->path().filename().string();
            ::fnmatch(names.c_str(), name.c_str(), FNM_PERIOD) == 0)
          add((where.parent_path() / name).string(), any);
    }
  }

  /// Where `cd` leads: what follows may be there.
  void enter(std::string_view folder) {
    if (folders_.size() < most_folders)
      folders_.push_back(folders_.back() / folder);
  }

  [[nodiscard]] std::string take() && { return std::move(text_); }

 private:
  std::string content_of(const fs::path& file) {
    std::error_code none;
    const auto size = fs::file_size(file, none);
    if (none) return {};
    if (size > left_) return file_identity(file);
    left_ -= size;
    return content_digest(file);
  }

  std::vector<fs::path> folders_;
  std::set<std::string> seen_;
  std::uintmax_t left_ = most_read;
  std::string text_;
};

/// Files that a program takes without being told.
std::vector<std::string_view> files_without_words(std::string_view program) {
  if (core::is_make(program)) return {"GNUmakefile", "makefile", "Makefile"};
  if (core::matches_any("npm npx pnpm yarn bun", program))
    return {"package.json"};
  if (program == "just") return {"justfile"};
  if (program == "cargo") return {"Cargo.toml", "build.rs"};
  return {};
}

void add_line(std::string_view line, found_programs& to, int depth);

/// `-m a.b` of Python.
void add_module(std::string name, found_programs& to) {
  std::ranges::replace(name, '.', '/');
  to.add(name + ".py", true);
  to.add(name + "/__main__.py", true);
}

/// What the shell makes something of: its usual forms.
void add_loose(std::string text, bool any, found_programs& to) {
  for (const std::string_view here : {"$PWD/", "${PWD}/"})
    for (auto at = text.find(here); at != text.npos; at = text.find(here))
      text.replace(at, here.size(), "./");
  std::erase(text, '\\');
  to.add(text, any);
}

/// Words that hold a command of their own: `sh -c "cd sub; ./t.sh"`.
bool may_be_line(std::string_view text) {
  return text.find_first_of(" \t\n;&|") != text.npos;
}

void add_part(const core::shell_part& part, found_programs& to, int depth) {
  constexpr int most_depth = 3;
  const bool moves =
      !part.empty() && (part[0].text == "cd" || part[0].text == "pushd");
  bool others = false;
  bool module = false;
  for (const auto& word : part) {
    if (depth < most_depth && may_be_line(word.text))
      add_line(word.text, to, depth + 1);
    if (word.kind == core::word_kind::glob) to.add_all(word.text, others);
    if (word.kind == core::word_kind::open) add_loose(word.text, others, to);
    if (word.kind != core::word_kind::plain) continue;
    to.add(word.text, others);
    if (others) to.add(word.text + "/__main__.py", true);
    if (std::exchange(module, word.text == "-m")) add_module(word.text, to);
    for (const auto value : {word.text.find('='), word.text.rfind('=')})
      if (value != word.text.npos)
        to.add(std::string_view{word.text}.substr(value + 1), others);
    const auto name = fs::path{word.text}.filename().string();
    for (const auto file : files_without_words(name)) to.add(file, true);
    if (moves && &word != &part[0]) to.enter(word.text);
    const auto* row = core::find_command(name);
    others = others || (row != nullptr && row->what != core::runs::nothing);
  }
}

void add_words(std::string_view text, found_programs& to) {
  constexpr std::string_view blanks = " \t\r\n";
  while (!text.empty()) {
    const auto begin = std::min(text.find_first_not_of(blanks), text.size());
    text.remove_prefix(begin);
    const auto end = std::min(text.find_first_of(blanks), text.size());
    to.add(text.substr(0, end), true);
    text.remove_prefix(end);
  }
}

void add_line(std::string_view line, found_programs& to, int depth) {
  const auto read = core::shell_parts(line);
  for (const auto& part : read.parts) add_part(part, to, depth);
  if (!read.clear)
    for (const auto& piece : core::rough_commands(line)) add_words(piece, to);
}

}  // namespace

std::string program_basis(std::string_view line, const fs::path& workspace) {
  found_programs out{workspace};
  add_line(line, out, 0);
  return std::move(out).take();
}

}  // namespace riffle::tools
