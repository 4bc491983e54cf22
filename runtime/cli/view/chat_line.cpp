// SPDX-License-Identifier: MIT
#include "runtime/cli/view/chat_line.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <unordered_set>
#include <utility>

#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"

namespace riffle::cli {

namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr std::string_view brackets = "([{";

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

constexpr talking_words talking[] = {
    {"crontab", "-e"},     {"docker", "-it -ti attach"},
    {"gh", "login"},       {"kubectl", "-it -ti edit"},
    {"npm", "init login"}, {"podman", "-it -ti attach"},
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

constexpr std::array all_commands{
    chat_command_help{"help", "", "what can be typed here"},
    chat_command_help{"new", "", "a new session"},
    chat_command_help{"sessions", "", "the newest sessions"},
    chat_command_help{"resume", "[ID|WORDS]",
                      "go on with a session, by its id or title"},
    chat_command_help{"title", "TEXT", "what lists call this session"},
    chat_command_help{"model", "[NAME]", "which model answers"},
    chat_command_help{"agent", "[NAME]", "which agent works"},
    chat_command_help{"approve", "[ask|all|none]",
                      "who decides about calls that change something"},
    chat_command_help{"tools", "", "what the agent may use"},
    chat_command_help{"prompts", "",
                      "texts of servers; /SERVER__NAME sends one"},
    chat_command_help{"output", "[N]",
                      "what the last call has written; 2: the one before it"},
    chat_command_help{"diff", "[FILE]", "what this session changed in files"},
    chat_command_help{"undo", "",
                      "take back what the last turn changed in files"},
    chat_command_help{"plan", "", "the plan of this session"},
    chat_command_help{"context", "", "what the model has been told"},
    chat_command_help{"cost", "", "tokens of this session"},
    chat_command_help{"compact", "", "go on with a summary of this session"},
    chat_command_help{"save", "FILE", "write the conversation to a file"},
    chat_command_help{"quit", "", "leave; Ctrl-D does as well"}};

/// "files__review", of a server.
bool is_prompt(std::string_view x) {
  return x.find("__") != x.npos && x.find("__") > 0 &&
         std::ranges::all_of(x, [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '_';
         });
}

/// ":10-20" behind the end of a name in quotation marks.
std::string_view lines_behind(std::string_view rest) {
  if (!rest.starts_with("\":") || rest.size() < 3) return {};
  rest.remove_prefix(1);
  if (std::isdigit(static_cast<unsigned char>(rest[1])) == 0) return {};
  return rest.substr(0, rest.find_first_of(blanks));
}

}  // namespace

std::span<const chat_command_help> chat_commands() { return all_commands; }

bool is_command_word(std::string_view x) {
  const auto small = [](char c) { return c >= 'a' && c <= 'z'; };
  return !x.empty() && small(x.front()) && std::ranges::all_of(x, [&](char c) {
    return small(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

bool is_built_in(std::string_view word) {
  return word == "exit" ||
         std::ranges::find(all_commands, word, &chat_command_help::word) !=
             all_commands.end();
}

chat_line parse_chat_line(std::string_view text) {
  const auto x = trimmed(text);
  if (x.empty()) return {};
  if (x.front() == '!') {
    const auto command = trimmed(x.substr(1));
    if (command.empty()) return {};
    return {chat_act::shell, {}, std::string{command}};
  }
  if (x.front() == '/') {
    const auto end = std::min(x.find_first_of(blanks), x.size());
    const auto word = x.substr(1, end - 1);
    const auto rest = trimmed(x.substr(end));
    if (word == "exit") return {chat_act::command, "quit", std::string{rest}};
    // Written otherwise it is meant all the same.
    const auto known = lower(word);
    if (std::ranges::any_of(all_commands,
                            [&](const auto& c) { return c.word == known; }))
      return {chat_act::command, known, std::string{rest}};
    if (is_command_word(word) || is_prompt(word))
      return {chat_act::command, std::string{word}, std::string{rest}};
  }
  return {chat_act::task, {}, std::string{x}};
}

bool wants_to_leave(std::string_view task) {
  return task == "exit" || task == "quit";
}

std::string chat_help(std::string_view own) {
  std::string out;
  const auto row = [&](std::string left, std::string_view about) {
    left.resize(std::max(help_width, left.size() + 1), ' ');
    out.append("  ").append(left).append(about).append("\n");
  };
  for (const auto& x : all_commands) {
    auto left = "/" + std::string{x.word};
    if (!x.arguments.empty()) left.append(" ").append(x.arguments);
    row(std::move(left), x.about);
  }
  out.append(own);
  row("@PATH", "attach a file; @PATH:10-20: these lines; Tab completes");
  row("!COMMAND", "run it; the model reads its output with what you say");
  row("\\ at the end", "go on in a new line (Alt-Enter does as well)");
  return out +
         "Ctrl-R looks for what you typed before; Ctrl-Z suspends, fg comes "
         "back.\n"
         "In the list behind / and @: Up, Down; Tab completes, Enter takes; "
         "Esc "
         "closes it.\n"
         "Ctrl-X Ctrl-E opens the text in your editor, Ctrl-_ takes a change "
         "back.\n"
         "While a run works you can type on: it is queued, and Up takes it "
         "back;\nEnter again, in the empty line, says it to the model before "
         "its next step.\n"
         "Tab goes from what you type to a question that waits, and back.\n"
         "Ctrl-C, or Esc, stops the run; Ctrl-D leaves when it has ended.\n";
}

std::string no_such_command(std::string_view word,
                            std::vector<std::string> own) {
  auto names = std::move(own);
  for (const auto& x : all_commands) names.emplace_back(x.word);
  auto meant = nearest(word, names);
  for (const auto& x : names)
    if (meant.empty() && word.size() > 1 && x.starts_with(word.substr(0, 2)))
      meant = x;
  const auto out = "there is no /" + std::string{word};
  return meant.empty() ? out + ": /help lists all"
                       : out + "; did you mean /" + meant + "? /help lists all";
}

std::string not_understood(const chat_line& x) {
  const auto known =
      std::ranges::find(all_commands, x.word, &chat_command_help::word);
  const bool takes_none =
      known != all_commands.end() && known->arguments.empty();
  if (!takes_none || x.rest.empty()) return {};
  return "/" + x.word + " takes nothing behind it, so \"" +
         safe_line(x.rest, 60) + "\" is not understood: nothing was done.";
}

std::string held_text(std::size_t texts) {
  return texts == 1 ? "What you had typed waits for your Enter."
                    : "What you had typed, " + std::to_string(texts) +
                          " inputs, waits for your Enter, one by one.";
}

namespace {

/// The words of a command, without those of `sudo` and its options.
std::span<const std::string_view> own_words(
    std::span<const std::string_view> words) {
  while (words.size() > 1 && (words[0] == "sudo" || words[0] == "doas")) {
    words = words.subspan(1);
    while (words.size() > 1 && words[0].starts_with('-')) {
      const bool has_value = words[0] == "-u" || words[0] == "-g";
      words = words.subspan(has_value && words.size() > 2 ? 2 : 1);
    }
  }
  return words;
}

/// By names and words alone.
bool is_known_to_talk(std::string_view name,
                      std::span<const std::string_view> words) {
  using names = std::unordered_set<std::string_view>;
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
  const auto* x = std::ranges::find(talking, name, &talking_words::program);
  if (x == std::end(talking)) return false;
  const auto some = words_of(x->words);
  return std::ranges::any_of(words, [&](std::string_view word) {
    return std::ranges::find(some, word) != some.end();
  });
}

}  // namespace

bool wants_terminal(std::string_view command, const git_aliases& aliases) {
  if (command.find_first_of("|<>&;") != command.npos) return false;
  const auto all = words_of(command);
  const auto words = own_words(all);
  if (words.empty()) return false;
  auto name = words[0];
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  const auto behind = words.subspan(1);
  if (is_known_to_talk(name, behind)) return true;
  if (name != "git") return false;
  if (git_talks(behind)) return true;
  const auto act = git_words(behind);
  if (act.empty() || is_gits_own(act[0])) return false;
  auto meant = aliases(act[0]);
  if (meant.empty()) return false;
  // One is not followed from another: git's own are what people shorten.
  meant = meant.starts_with('!') ? meant.substr(1) : "git " + meant;
  for (const auto word : act.subspan(1)) meant.append(" ").append(word);
  return wants_terminal(meant);
}

std::vector<std::string> mentioned_files(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins =
        text[i] == '@' &&
        (i == 0 || blanks.find(text[i - 1]) != std::string_view::npos ||
         brackets.find(text[i - 1]) != std::string_view::npos);
    if (!begins || i + 1 >= text.size()) continue;
    const bool quoted = text[i + 1] == '"';
    const auto from = i + (quoted ? 2 : 1);
    const auto end = std::min(
        quoted ? text.find('"', from) : text.find_first_of(blanks, from),
        text.size());
    auto name = std::string{text.substr(from, end - from)};
    if (quoted) name += lines_behind(text.substr(end));
    if (!name.empty() && std::ranges::find(out, name) == out.end())
      out.push_back(name);
    i = end;
  }
  return out;
}

begun_path path_before(std::string_view before_cursor) {
  const auto quote = before_cursor.rfind("@\"");
  if (quote != std::string_view::npos &&
      before_cursor.find('"', quote + 2) == std::string_view::npos)
    return {true, std::string{before_cursor.substr(quote + 2)}};
  const auto blank = before_cursor.find_last_of(blanks);
  auto word = blank == std::string_view::npos ? before_cursor
                                              : before_cursor.substr(blank + 1);
  word.remove_prefix(std::min(word.find_first_not_of(brackets), word.size()));
  if (!word.starts_with('@')) return {};
  return {true, std::string{word.substr(1)}};
}

}  // namespace riffle::cli
