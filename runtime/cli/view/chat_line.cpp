// SPDX-License-Identifier: MIT
#include "runtime/cli/view/chat_line.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <utility>

#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"

namespace riffle::cli {

namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr std::string_view brackets = "([{";

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
    const bool twice = x.starts_with("!!");
    std::string command{trimmed(x.substr(twice ? 2 : 1))};
    if (command.empty()) return {};
    // "! !x" is the shell's own, a status turned round.
    if (twice || command[0] == '!') command.insert(0, twice ? "!" : " ");
    return {chat_act::shell, {}, std::move(command)};
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
  row("!!COMMAND", "the same with your keyboard and the whole terminal");
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
