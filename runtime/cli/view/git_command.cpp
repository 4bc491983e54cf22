// SPDX-License-Identifier: MIT
#include "runtime/cli/view/git_command.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_set>

#include "runtime/cli/view/line_words.hpp"

namespace riffle::cli {

namespace {

using names = std::unordered_set<std::string_view>;

/// When a git command opens an editor, or asks line by line.
struct git_act {
  std::string_view name;
  std::string_view asks;        ///< options that make it do so, by letter
  std::string_view gives{};     ///< and those that give it the text
  std::string_view writes{};    ///< options that ask for a text
  bool always = false;          ///< it does so without any
  std::string_view then{};      ///< only behind these words
  std::string_view not_then{};  ///< never behind these
};

constexpr git_act git_acts[] = {
    {"add", "pie"},
    {"am", "i"},
    {"branch", ""},
    {"checkout", "p"},
    {"cherry-pick", "e"},
    {"clean", "i"},
    {"commit", "pe", "mFC", "", true},
    {"config", "e"},
    {"difftool", "", "", "", true},
    {"merge", "e"},
    {"mergetool", "", "", "", true},
    {"notes", "", "mFC", "", true, "add append edit"},
    {"rebase", "i"},
    {"reset", "p"},
    {"restore", "p"},
    {"revert", "e"},
    {"send-email", "", "", "", true},
    {"stash", "p", "", "", false, "", "show list"},
    {"tag", "e", "mF", "asu"},
};

/// "-am" holds the letter m, "--message=x" is the option "--message".
bool is_one_of(std::string_view word, std::string_view letters,
               std::span<const std::string_view> names) {
  if (word.size() < 2 || word[0] != '-') return false;
  if (word[1] != '-') return word.find_first_of(letters, 1) != word.npos;
  return std::ranges::find(names, word.substr(0, word.find('='))) !=
         names.end();
}

/// Of short options the letters count before one that has the rest as value.
std::string_view letters_of(std::string_view word) {
  return word.substr(0, word.find_first_of("XxSO", 1));
}

}  // namespace

std::span<const std::string_view> git_words(
    std::span<const std::string_view> words) {
  static constexpr std::array<std::string_view, 7> valued{
      "-C",          "-c",           "--git-dir",    "--work-tree",
      "--namespace", "--config-env", "--attr-source"};
  while (!words.empty() && words[0].starts_with('-')) {
    const bool has_value = std::ranges::find(valued, words[0]) != valued.end();
    words =
        words.subspan(std::min<std::size_t>(has_value ? 2 : 1, words.size()));
  }
  return words;
}

bool is_gits_own(std::string_view name) {
  static const names own{
      "diff",   "fetch",     "grep",     "init",     "log",      "mv",
      "pull",   "push",      "rm",       "show",     "clone",    "blame",
      "status", "switch",    "remote",   "describe", "worktree", "bisect",
      "reflog", "rev-parse", "ls-files", "submodule"};
  return own.contains(name) ||
         std::ranges::find(git_acts, name, &git_act::name) !=
             std::end(git_acts);
}

bool git_talks(std::span<const std::string_view> words) {
  using some = std::array<std::string_view, 7>;
  static constexpr some given{"--message", "--file",    "--reuse-message",
                              "--no-edit", "--dry-run", "--fixup",
                              "--help"};
  static constexpr some asked{
      "--patch",     "--interactive",      "--edit",
      "--edit-todo", "--edit-description", "--continue"};
  static constexpr some texts{"--annotate", "--sign", "--local-user"};
  words = git_words(words);
  if (words.empty()) return false;
  const auto* act = std::ranges::find(git_acts, words[0], &git_act::name);
  if (act == std::end(git_acts)) return false;
  words = words.subspan(1);
  const auto second = std::ranges::find_if_not(
      words, [](std::string_view x) { return x.starts_with('-'); });
  const auto what = second == words.end() ? std::string_view{} : *second;
  if (!act->then.empty() && !is_in(act->then, what)) return false;
  if (is_in(act->not_then, what)) return false;
  bool talks = act->always;
  bool has_text = false;
  bool asks = false;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const auto word = words[i];
    if (word.size() < 2 || word[0] != '-') continue;
    if (word == "-h") return false;
    const auto part = word[1] == '-' ? word : letters_of(word);
    // "am" goes on with what its mail says.
    asks = asks || (is_one_of(part, act->asks, asked) &&
                    !(word == "--continue" && act->name == "am"));
    talks =
        talks || (!act->writes.empty() && is_one_of(part, act->writes, texts));
    if (!is_one_of(part, act->gives, given)) continue;
    has_text = true;
    const bool short_one = word[1] != '-';
    const bool takes_next =
        short_one ? act->gives.find(word.back()) != act->gives.npos
                  : word == "--message" || word == "--file";
    if (takes_next) ++i;
    if (word == "--no-edit" || word == "--help") return false;
  }
  return asks || (talks && !has_text);
}

}  // namespace riffle::cli
