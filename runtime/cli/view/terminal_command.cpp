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

#include "runtime/cli/view/git_command.hpp"
#include "runtime/cli/view/line_words.hpp"

namespace riffle::cli {

namespace {

using names = std::unordered_set<std::string_view>;

/// Programs that talk to who sits there behind one of these options, or with
/// one of these as their first word.
struct talking_words {
  std::string_view program, options, words{};
};

constexpr talking_words talking[] = {
    {"crontab", "-e"},
    {"docker", "-it -ti", "attach"},
    {"kubectl", "-it -ti", "edit"},
    {"node", "-i"},
    {"npm", "", "init login"},
    {"podman", "-it -ti", "attach"},
    {"python", "-i"},
    {"python3", "-i"},
    {"screen", "-r -x -R -S"},
    {"systemctl", "", "edit"},
    {"tmux", "", "attach a at attach-session new new-session"}};

/// One command of a line.
struct joined_part {
  std::string_view text;
  bool reads_other = false;  ///< its input is a pipe, or a file
  bool bound = false;        ///< its output is no terminal
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
    if ((c == '$' || c == '<' || c == '>') && next == '(') {
      skip_group();
    } else if (c == '#' && (at_ == 0 || is_blank(line_[at_ - 1]))) {
      at_ = std::min(line_.find('\n', at_), line_.size());  // a comment
    } else if (c == '<') {
      part_.reads_other = true;
      // What stands behind a line of its own here is no command.
      at_ = next == c ? line_.size() : at_ + 1;
    } else if (c == '>') {
      // Errors elsewhere are no matter.
      part_.bound = part_.bound || at_ == 0 || line_[at_ - 1] != '2';
      at_ += next == '&' || next == c ? 2 : 1;
    } else if (c == ';' || c == '\n') {
      end(at_++);
    } else if (c == '&' || c == '|') {
      join(c, next);
    } else {
      at_ = next_of(line_, at_);
    }
  }

  static bool is_blank(char c) {
    return blanks_of_line.find(c) != blanks_of_line.npos;
  }

  void join(char c, char next) {
    const bool twice = next == c;
    // Behind it nobody waits, or its output is read.
    if (!twice) part_.bound = true;
    const auto begin = at_;
    at_ += twice || (c == '|' && next == '&') ? 2 : 1;
    end(begin);
    part_.reads_other = c == '|' && !twice;
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
    const auto what = words[0];
    const bool nice = what == "nice";
    const bool runs = nice || what == "sudo" || what == "doas" ||
                      what == "env" || what == "time";
    words = words.subspan(1);
    while (runs && words.size() > 1 && words[0].starts_with('-')) {
      const bool has_value =
          words[0] == "-u" || words[0] == "-g" || (nice && words[0] == "-n");
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

/// It says what it is, or has something to do that asks nobody.
bool is_given_work(std::string_view name,
                   std::span<const std::string_view> words) {
  struct work {
    std::string_view program, options;
  };
  static constexpr work all[] = {
      {"emacs", "--batch -batch"}, {"gdb", "--batch -batch"},
      {"lldb", "--batch"},         {"man", "-k -f -w --path"},
      {"mysql", "-e --execute"},   {"nvim", "--headless"},
      {"passwd", "-S --status"},   {"psql", "-c --command -f --file -l"},
      {"top", "-b -bn1 -bn"},      {"npm", "-y --yes"}};
  static const names always{"--version", "--help", "-V"};
  const auto has = [&](std::string_view options) {
    return std::ranges::any_of(
        words, [&](std::string_view x) { return is_in(options, x); });
  };
  if (std::ranges::any_of(
          words, [](std::string_view x) { return always.contains(x); }))
    return true;
  if (name == "ssh" && std::ranges::find(words, "-t") == words.end()) {
    const auto is_operand = [](std::string_view x) { return x[0] != '-'; };
    return std::ranges::count_if(words, is_operand) > 1;  // HOST COMMAND
  }
  const auto* const x = std::ranges::find(all, name, &work::program);
  return x != std::end(all) && has(x->options);
}

/// "-i", "-vi": `rm` and its like ask for each file.
bool asks_for_files(std::string_view name,
                    std::span<const std::string_view> words) {
  return is_in("rm cp mv ln", name) &&
         std::ranges::any_of(words, [](std::string_view x) {
           return x.size() > 1 && x[0] == '-' && x[1] != '-' &&
                  x.find_first_of("iI") != x.npos;
         });
}

/// By names and words alone.
bool is_known_to_talk(std::string_view name,
                      std::span<const std::string_view> words) {
  static const names programs{
      "vi",    "vim",    "nvim",     "view",   "vimdiff", "nano",    "pico",
      "emacs", "micro",  "hx",       "less",   "more",    "most",    "man",
      "info",  "top",    "htop",     "btop",   "tig",     "watch",   "lazygit",
      "ssh",   "sftp",   "gdb",      "lldb",   "psql",    "mysql",   "su",
      "fzf",   "dialog", "whiptail", "visudo", "passwd",  "sudoedit"};
  // They ask line by line where they are given nothing to do.
  static const names alone{"sh",   "bash",    "zsh",  "fish",    "dash",
                           "bc",   "python",  "node", "python3", "ipython",
                           "ghci", "sqlite3", "irb",  "lua",     "redis-cli",
                           "tmux", "screen",  "mc"};
  if (is_given_work(name, words)) return false;
  if (programs.contains(name) || asks_for_files(name, words)) return true;
  const auto operand = std::ranges::find_if_not(
      words, [](std::string_view x) { return x.starts_with('-'); });
  const auto options = std::ranges::subrange(words.begin(), operand);
  static const names quiet{"-l", "-i", "-q", "--login"};
  if (alone.contains(name) && operand == words.end() &&
      std::ranges::all_of(options,
                          [](std::string_view x) { return quiet.contains(x); }))
    return true;
  if (name == "sqlite3" && words.size() == 1) return true;  // a file alone
  if (name == "gh")
    return is_in("auth", words.empty() ? "" : words[0]) &&
           is_in("login", words.back());
  const auto* x = std::ranges::find(talking, name, &talking_words::program);
  if (x == std::end(talking)) return false;
  // Those of containers stand behind `run` and `exec`.
  const bool anywhere = x->options.find("-it") != x->options.npos;
  const auto looked =
      anywhere ? std::ranges::subrange(words.begin(), words.end()) : options;
  return (operand != words.end() && is_in(x->words, *operand)) ||
         std::ranges::any_of(looked, [&](std::string_view word) {
           return is_in(x->options, word);
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

/// "GIT_EDITOR=true git rebase": it opens none that anybody would see.
bool names_other_editor(std::string_view text) {
  for (const std::string_view name : {"EDITOR=", "core.editor="}) {
    const auto at = text.find(name);
    if (at == text.npos) continue;
    auto value = text.substr(at + name.size());
    value = value.substr(0, value.find_first_of(blanks_of_line));
    value.remove_prefix(value.rfind('/') + 1);
    static const names seen{"vi",    "vim",   "nvim", "nano",
                            "emacs", "micro", "hx"};
    if (!seen.contains(value)) return true;
  }
  return false;
}

bool part_wants(const joined_part& part, const git_aliases& aliases) {
  auto text = part.text;
  const auto begin = std::min(text.find_first_not_of(" \t("), text.size());
  const auto end = text.find_last_not_of(" \t)");
  if (begin == text.size() || end == text.npos || part.bound) return false;
  text = text.substr(begin, end + 1 - begin);
  const auto all = line_words(text);
  const auto words = own_words(all);
  if (words.empty()) return false;
  auto name = words[0];
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  const auto behind = words.subspan(1);
  if (names_other_editor(text)) return false;
  // "sudo -i" is a shell.
  if (name.starts_with('-') || name == "sudo")
    return is_in("-i -s", words.back());
  if (part.reads_other) return is_pager(name, behind);
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
