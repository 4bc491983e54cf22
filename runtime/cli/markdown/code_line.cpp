// SPDX-License-Identifier: MIT
#include "runtime/cli/markdown/code_line.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "runtime/cli/markdown/inline_text.hpp"
#include "runtime/cli/markdown/text_style.hpp"
#include "runtime/cli/view/diff_lines.hpp"

namespace riffle::cli {

namespace {

template <std::size_t N>
bool is_any(const std::array<std::string_view, N>& all, std::string_view x) {
  return std::ranges::find(all, x) != all.end();
}

constexpr std::array<std::string_view, 21> with_slashes{
    "c",    "h",     "cpp",   "c++",   "cc",  "hpp",        "cxx",
    "js",   "jsx",   "ts",    "tsx",   "go",  "rust",       "rs",
    "java", "swift", "scala", "proto", "php", "javascript", "typescript"};
constexpr std::array<std::string_view, 17> with_hash{
    "sh",    "bash", "zsh",  "shell", "console",    "py",
    "rb",    "ruby", "perl", "yaml",  "yml",        "toml",
    "cmake", "make", "r",    "ini",   "dockerfile",
};
constexpr std::array<std::string_view, 3> with_dashes{"sql", "lua", "haskell"};

std::string_view comment_mark(std::string_view language) {
  if (is_any(with_slashes, language)) return "//";
  if (is_any(with_hash, language) || language == "python") return "#";
  return is_any(with_dashes, language) ? "--" : "";
}

/// Behind the string that begins at `at`; behind its mark where it has no end.
std::size_t behind_string(std::string_view line, std::size_t at) {
  for (auto i = at + 1; i < line.size(); ++i) {
    if (line[i] == '\\')
      ++i;
    else if (line[i] == line[at])
      return i + 1;
  }
  return at + 1;
}

/// Where the comment begins; the line's size if it has none.
std::size_t comment_of(std::string_view line, std::string_view mark) {
  if (mark.empty()) return line.size();
  bool after_blank = true;
  for (std::size_t i = 0; i < line.size();) {
    if (after_blank && line.substr(i).starts_with(mark)) return i;
    after_blank = line[i] == ' ' || line[i] == '\t';
    i = line[i] == '"' || line[i] == '\'' ? behind_string(line, i) : i + 1;
  }
  return line.size();
}

}  // namespace

std::vector<painted_part> painted_code(std::string_view line,
                                       std::string_view language) {
  if (language == "diff" || language == "patch")
    return {{line, paint_of(line)}};
  const auto end = comment_of(line, comment_mark(language));
  std::vector<painted_part> out;
  if (end > 0) out.push_back({line.substr(0, end), style_of(text_marks::code)});
  if (end < line.size()) out.push_back({line.substr(end), dim_style});
  return out;
}

}  // namespace riffle::cli
