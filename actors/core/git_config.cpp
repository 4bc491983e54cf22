// SPDX-License-Identifier: MIT
// Settings of a repository that only say what it is: part of read_command.hpp.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "actors/core/read_command.hpp"
#include "runtime/base/text.hpp"

namespace riffle::core {

namespace git_settings {

/// "section.key", also of sections with a name of their own.
constexpr std::array harmless = {
    "core.repositoryformatversion",
    "core.filemode",
    "core.bare",
    "core.logallrefupdates",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.autocrlf",
    "core.eol",
    "core.abbrev",
    "core.quotepath",
    "core.compression",
    "extensions.objectformat",
    "extensions.refstorage",
    "remote.url",
    "remote.pushurl",
    "remote.fetch",
    "remote.push",
    "remote.tagopt",
    "remote.prune",
    "branch.remote",
    "branch.merge",
    "branch.rebase",
    "branch.pushremote",
    "branch.description",
    "branch.autosetuprebase",
    "user.name",
    "user.email",
    "pull.rebase",
    "pull.ff",
    "push.default",
    "push.autosetupremote",
    "init.defaultbranch",
    "commit.gpgsign",
    "rerere.enabled",
    "gc.auto",
    "color.ui",
};

/// `[name]` or `[name "other"]`, the name alone; empty: something else.
std::string section_of(std::string_view line) {
  if (line.size() < 3 || line.back() != ']') return {};
  line = line.substr(1, line.size() - 2);
  const auto end = std::min(line.find_first_of(" \t"), line.size());
  const auto name = line.substr(0, end);
  const auto other = trimmed(line.substr(end));
  const bool quoted =
      other.size() >= 2 && other.front() == '"' && other.back() == '"' &&
      other.substr(1, other.size() - 2).find_first_of("\"\\]") ==
          std::string_view::npos;
  if (!other.empty() && !quoted) return {};
  if (name.find_first_of(".\"]") != std::string_view::npos) return {};
  return lower(name);
}

}  // namespace git_settings

bool is_harmless_git_config(std::string_view text) {
  using namespace git_settings;
  std::string section;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    const bool odd = std::ranges::any_of(line, [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F;
    });
    if (odd || line.back() == '\\') return false;  // it goes on in the next
    if (line.front() == '[') {
      section = section_of(line);
      if (section.empty()) return false;
      continue;
    }
    const auto key =
        section + "." + lower(trimmed(line.substr(0, line.find('='))));
    if (std::ranges::find(harmless, key) == harmless.end()) return false;
  }
  return true;
}

}  // namespace riffle::core
