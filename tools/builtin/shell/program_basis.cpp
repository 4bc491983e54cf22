// SPDX-License-Identifier: MIT
#include "tools/builtin/shell/program_basis.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
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

void add_part(const core::shell_part& part, found_programs& to) {
  const bool moves =
      !part.empty() && (part[0].text == "cd" || part[0].text == "pushd");
  bool others = false;
  for (const auto& word : part) {
    if (word.kind != core::word_kind::plain) continue;
    to.add(word.text, others);
    if (const auto value = word.text.find('='); value != word.text.npos)
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

}  // namespace

std::string program_basis(std::string_view line, const fs::path& workspace) {
  found_programs out{workspace};
  const auto read = core::shell_parts(line);
  for (const auto& part : read.parts) add_part(part, out);
  if (!read.clear)
    for (const auto& piece : core::rough_commands(line)) add_words(piece, out);
  return std::move(out).take();
}

}  // namespace riffle::tools
