// SPDX-License-Identifier: MIT
#include "runtime/cli/view/line_words.hpp"

#include <algorithm>

namespace riffle::cli {

std::size_t next_of(std::string_view line, std::size_t at) {
  const char c = line[at];
  if (c == '\\') return std::min(at + 2, line.size());
  if (c != '\'' && c != '"' && c != '`') return at + 1;
  for (++at; at < line.size() && line[at] != c; ++at)
    if (c == '"' && line[at] == '\\') ++at;
  return std::min(at + 1, line.size());
}

std::vector<std::string_view> line_words(std::string_view command) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0;
       (at = command.find_first_not_of(blanks_of_line, at)) != command.npos;) {
    const auto begin = at;
    while (at < command.size() &&
           blanks_of_line.find(command[at]) == blanks_of_line.npos)
      at = next_of(command, at);
    out.push_back(command.substr(begin, at - begin));
  }
  return out;
}

bool is_in(std::string_view words, std::string_view word) {
  const auto all = line_words(words);
  return std::ranges::find(all, word) != all.end();
}

}  // namespace riffle::cli
