// SPDX-License-Identifier: MIT
#include "tools/builtin/search/ignore_rules.hpp"

#include <algorithm>
#include <utility>

namespace riffle::tools {

namespace {

/// Spaces at the end do not count, unless a backslash stands before them.
std::string_view without_spaces(std::string_view line) {
  auto end = std::string_view::npos;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ' ') {
      end = std::min(end, i);
      continue;
    }
    end = std::string_view::npos;
    if (line[i] == '\\') ++i;  // what follows is no blank to cut off
  }
  return line.substr(0, end);
}

}  // namespace

ignore_rules::ignore_rules(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (!text.empty() && rules_.size() < most_rules) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('#')) continue;
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = line.substr(0, line.find('\0'));
    add(without_spaces(line));
  }
}

void ignore_rules::add(std::string_view line) {
  const bool negated = line.starts_with('!');
  if (negated) line.remove_prefix(1);
  const bool folders_only = line.ends_with('/');
  if (folders_only) line.remove_suffix(1);
  const bool name_only = line.find('/') == std::string_view::npos;
  if (line.starts_with('/')) line.remove_prefix(1);
  if (line.empty()) return;
  // As git does it: what follows the plain characters is a pattern of its own.
  const auto plain = std::min(line.find_first_of("*?[\\"), line.size());
  rules_.push_back({.negated = negated,
                    .folders_only = folders_only,
                    .name_only = name_only,
                    .begin = std::string{line.substr(0, plain)},
                    .plain = plain == line.size(),
                    .pattern = glob_pattern{line.substr(plain),
                                            glob_pattern::units::bytes}});
}

bool ignore_rules::matches(const rule& x, std::string_view path) {
  if (x.name_only) path.remove_prefix(path.rfind('/') + 1);
  if (!path.starts_with(x.begin)) return false;
  path.remove_prefix(x.begin.size());
  return x.plain ? path.empty() : x.pattern.matches(path);
}

verdict ignore_rules::of(std::string_view path, bool folder) const {
  const auto found =
      std::find_if(rules_.rbegin(), rules_.rend(), [&](const rule& x) {
        return (folder || !x.folders_only) && matches(x, path);
      });
  if (found == rules_.rend()) return verdict::none;
  return found->negated ? verdict::included : verdict::ignored;
}

}  // namespace riffle::tools
