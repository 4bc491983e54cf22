// SPDX-License-Identifier: MIT
#include "runtime/cli/view/terminal_command.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

namespace riffle::cli {

namespace {

using names = std::unordered_set<std::string_view>;

constexpr std::string_view blanks = " \t\r\n";

std::vector<std::string_view> words_of(std::string_view command) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0;
       (at = command.find_first_not_of(blanks, at)) != command.npos;) {
    const auto end =
        std::min(command.find_first_of(blanks, at), command.size());
    out.push_back(command.substr(at, end - at));
    at = end;
  }
  return out;
}

/// When a git command opens an editor, or asks line by line.
struct git_act {
  std::string_view name;
  std::string_view asks;      ///< options that make it do so, by letter
  std::string_view gives{};   ///< and those that give it the text
  std::string_view writes{};  ///< options that ask for a text
  bool always = false;        ///< it does so without any
  std::string_view then{};    ///< only behind these words
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
    {"stash", "p"},
    {"tag", "e", "mF", "asu"},
};

/// Programs that talk to who sits there behind one of these words.
struct talking_words {
  std::string_view program, words;
};

constexpr talking_words talking[] = {{"cp", "-i"},
                                     {"crontab", "-e"},
                                     {"docker", "-it -ti attach"},
                                     {"gh", "login"},
                                     {"kubectl", "-it -ti edit"},
                                     {"mv", "-i"},
                                     {"node", "-i"},
                                     {"npm", "init login"},
                                     {"podman", "-it -ti attach"},
                                     {"python", "-i"},
                                     {"python3", "-i"},
                                     {"rm", "-i -I -ri -rI -ir"},
                                     {"systemctl", "edit"}};

/// Commands of git that begin nothing else: their names are no aliases.
bool is_gits_own(std::string_view name) {
  using names = std::unordered_set<std::string_view>;
  static const names own{"diff",  "fetch", "grep",   "init",  "log",
                         "mv",    "pull",  "push",   "rm",    "show",
                         "clone", "blame", "status", "switch"};
  return own.contains(name) ||
         std::ranges::find(git_acts, name, &git_act::name) !=
             std::end(git_acts);
}

/// "-am" holds the letter m, "--message=x" is the option "--message".
bool is_one_of(std::string_view word, std::string_view letters,
               std::span<const std::string_view> names) {
  if (word.size() < 2 || word[0] != '-') return false;
  if (word[1] != '-') return word.find_first_of(letters, 1) != word.npos;
  return std::ranges::find(names, word.substr(0, word.find('='))) !=
         names.end();
}

/// The words behind git's own options.
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

/// Whether git opens an editor for these words, or asks line by line. Behind a
/// message they may be words of it.
bool git_talks(std::span<const std::string_view> words) {
  using names = std::array<std::string_view, 6>;
  static constexpr names given{"--message", "--file",    "--reuse-message",
                               "--no-edit", "--dry-run", "--fixup"};
  static constexpr names asked{
      "--patch",     "--interactive",      "--edit",
      "--edit-todo", "--edit-description", "--continue"};
  static constexpr names texts{"--annotate", "--sign", "--local-user"};
  words = git_words(words);
  if (words.empty()) return false;
  const auto* act = std::ranges::find(git_acts, words[0], &git_act::name);
  if (act == std::end(git_acts)) return false;
  words = words.subspan(1);
  if (!act->then.empty()) {
    const auto allowed = words_of(act->then);
    const auto second = std::ranges::find_if_not(
        words, [](std::string_view x) { return x.starts_with('-'); });
    if (second == words.end() ||
        std::ranges::find(allowed, *second) == allowed.end())
      return false;
    words = {second + 1, words.end()};
  }
  bool talks = act->always;
  for (const auto word : words) {
    if (word == "--") break;
    if (!act->gives.empty() && is_one_of(word, act->gives, given)) return false;
    if (is_one_of(word, act->asks, asked)) return true;
    talks =
        talks || (!act->writes.empty() && is_one_of(word, act->writes, texts));
  }
  return talks;
}

/// One command of a line.
struct joined_part {
  std::string_view text;
  bool reads_pipe = false;
  bool bound = false;  ///< its output, or its input, is no terminal
};

/// The commands that `;`, `&&`, `||`, `|`, `&` and line ends join. What stands
/// in quotes, or in `$( )`, is a part of a word.
class line_reader {
 public:
  explicit line_reader(std::string_view line) : line_{line} {}

  std::vector<joined_part> parts() {
    while (at_ < line_.size()) step();
    end(line_.size());
    return std::move(out_);
  }

 private:
  void step() {
    const char c = line_[at_];
    const char next = at_ + 1 < line_.size() ? line_[at_ + 1] : '\0';
    if (c == '\\') {
      at_ += 2;
    } else if (c == '\'' || c == '"' || c == '`') {
      const auto close = line_.find(c, at_ + 1);
      at_ = close == line_.npos ? line_.size() : close + 1;
    } else if (c == '$' && next == '(') {
      skip_group();
    } else if (c == '<' || c == '>') {
      // Errors elsewhere are no matter.
      part_.bound = part_.bound || at_ == 0 || line_[at_ - 1] != '2';
      at_ += next == '&' || next == c ? 2 : 1;
    } else if (c == ';' || c == '\n') {
      end(at_++);
    } else if (c == '&' || c == '|') {
      join(c, next);
    } else {
      ++at_;
    }
  }

  void join(char c, char next) {
    const bool twice = next == c;
    // Behind it nobody waits, or its output is read.
    if (!twice) part_.bound = true;
    const auto begin = at_;
    at_ += twice || (c == '|' && next == '&') ? 2 : 1;
    end(begin);
    part_.reads_pipe = c == '|' && !twice;
  }

  void skip_group() {
    std::size_t depth = 0;
    for (; at_ < line_.size(); ++at_) {
      if (line_[at_] == '(') ++depth;
      if (line_[at_] == ')' && --depth == 0) break;
    }
    at_ = std::min(at_ + 1, line_.size());
  }

  void end(std::size_t where) {
    part_.text = line_.substr(begin_, where - begin_);
    out_.push_back(std::exchange(part_, {}));
    begin_ = std::min(at_, line_.size());
  }

  std::string_view line_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;
  joined_part part_;
  std::vector<joined_part> out_;
};

bool is_assignment(std::string_view word) {
  const auto end = word.find('=');
  return end != word.npos && end > 0 &&
         std::ranges::all_of(word.substr(0, end), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_';
         });
}

/// The words of a command, without what may stand before its name: words of the
/// shell, variables, `sudo` and its options.
std::span<const std::string_view> own_words(
    std::span<const std::string_view> words) {
  static const names before{"do",    "then", "else", "elif", "if",     "while",
                            "until", "!",    "{",    "(",    "env",    "time",
                            "exec",  "sudo", "doas", "nice", "command"};
  while (words.size() > 1 &&
         (before.contains(words[0]) || is_assignment(words[0]))) {
    const bool runs = words[0] == "sudo" || words[0] == "doas" ||
                      words[0] == "env" || words[0] == "nice";
    words = words.subspan(1);
    while (runs && words.size() > 1 && words[0].starts_with('-')) {
      const bool has_value =
          words[0] == "-u" || words[0] == "-g" || words[0] == "-n";
      words = words.subspan(has_value && words.size() > 2 ? 2 : 1);
    }
  }
  return words;
}

bool is_pager(std::string_view name, std::span<const std::string_view> words) {
  static const names pagers{"less", "more", "most", "fzf"};
  static const names editors{"vi", "vim", "nvim", "view"};
  const bool reads = std::ranges::find(words, "-") != words.end();
  return pagers.contains(name) || (editors.contains(name) && reads);
}

/// By names and words alone.
bool is_known_to_talk(std::string_view name,
                      std::span<const std::string_view> words) {
  static const names programs{
      "vi",    "vim",  "nvim",   "view",     "nano",   "pico",   "emacs",
      "micro", "hx",   "less",   "more",     "most",   "man",    "info",
      "top",   "htop", "btop",   "tig",      "mc",     "watch",  "lazygit",
      "ssh",   "sftp", "gdb",    "lldb",     "psql",   "mysql",  "screen",
      "tmux",  "fzf",  "dialog", "whiptail", "visudo", "passwd", "sudoedit"};
  // They ask line by line where they are given nothing to do.
  static const names alone{"sh",   "bash",    "zsh",     "fish", "dash",
                           "bc",   "python",  "python3", "node", "ipython",
                           "ghci", "sqlite3", "irb",     "lua",  "redis-cli"};
  if (programs.contains(name) || (words.empty() && alone.contains(name)))
    return true;
  if (name == "sqlite3" && words.size() == 1 && !words[0].starts_with('-'))
    return true;  // a file, and nothing to do with it
  const auto* x = std::ranges::find(talking, name, &talking_words::program);
  if (x == std::end(talking)) return false;
  const auto some = words_of(x->words);
  return std::ranges::any_of(words, [&](std::string_view word) {
    return std::ranges::find(some, word) != some.end();
  });
}

bool git_wants(std::span<const std::string_view> words,
               const git_aliases& aliases) {
  if (git_talks(words)) return true;
  const auto act = git_words(words);
  if (act.empty() || is_gits_own(act[0])) return false;
  auto meant = aliases(act[0]);
  if (meant.empty()) return false;
  // One is not followed from another: git's own are what people shorten.
  meant = meant.starts_with('!') ? meant.substr(1) : "git " + meant;
  for (const auto word : act.subspan(1)) meant.append(" ").append(word);
  return wants_terminal(meant);
}

bool part_wants(const joined_part& part, const git_aliases& aliases) {
  auto text = part.text;
  const auto begin = std::min(text.find_first_not_of(" \t("), text.size());
  const auto end = text.find_last_not_of(" \t)");
  if (begin == text.size() || end == text.npos || part.bound) return false;
  text = text.substr(begin, end + 1 - begin);
  const auto all = words_of(text);
  const auto words = own_words(all);
  if (words.empty()) return false;
  auto name = words[0];
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  const auto behind = words.subspan(1);
  if (part.reads_pipe) return is_pager(name, behind);
  return is_known_to_talk(name, behind) ||
         (name == "git" && git_wants(behind, aliases));
}

}  // namespace

bool wants_terminal(std::string_view line, const git_aliases& aliases) {
  return std::ranges::any_of(
      line_reader{line}.parts(),
      [&](const joined_part& x) { return part_wants(x, aliases); });
}

bool ends_as_question(std::string_view output) {
  const auto row = output.substr(output.rfind('\n') + 1);  // npos + 1 is 0
  const auto end = row.find_last_not_of(" \t");
  return end != row.npos &&
         std::string_view{"?:>])"}.find(row[end]) != std::string_view::npos;
}

}  // namespace riffle::cli
