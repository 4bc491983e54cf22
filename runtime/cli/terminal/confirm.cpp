// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/confirm.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/asked_line.hpp"
#include "runtime/cli/terminal/terminal_mode.hpp"
#include "runtime/cli/view/run_output.hpp"
#include "runtime/cli/view/trust_text.hpp"

namespace riffle::cli {

namespace {

/// How often it is looked whether the person asked for the end.
constexpr int between_looks_ms = 200;

/// What was typed before a question was seen is no answer to it.
void forget_typed(int keyboard) { ::tcflush(keyboard, TCIFLUSH); }

/// As `asked_line`, where nothing can be erased: the terminal edits the line.
std::optional<std::string> read_line(const std::string& question, int keyboard,
                                     const std::function<bool()>& stopped,
                                     console& io) {
  count_continues();
  int seen = times_continued();
  const auto went_on = [&] { return times_continued() != seen; };
  io.say(question);
  std::string line;
  while (!stopped() && line.size() < asked_line::longest) {
    if (went_on()) {
      seen = times_continued();
      forget_typed(keyboard);
      line.clear();
      io.say(question);
    }
    pollfd ready{keyboard, POLLIN, 0};
    if (::poll(&ready, 1, between_looks_ms) <= 0 || went_on()) continue;
    std::array<char, 256> piece{};
    const auto n = ::read(keyboard, piece.data(), piece.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return std::nullopt;
    if (went_on()) continue;
    line.append(piece.data(), static_cast<std::size_t>(n));
    if (const auto end = line.find('\n'); end != std::string::npos)
      return line.substr(0, end);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> answer_in(std::string_view line,
                                     const std::vector<answer>& all) {
  const auto found = std::ranges::find_if(
      all, [&](const answer& x) { return line == x.key || line == x.word; });
  if (found == all.end()) return std::nullopt;
  return static_cast<std::size_t>(found - all.begin());
}

namespace {

std::optional<std::string> ask_line(const std::string& question, int keyboard,
                                    const std::function<bool()>& stopped,
                                    console& io) {
  auto line = can_erase() ? asked_line{question, keyboard, io}.read(stopped)
                          : read_line(question, keyboard, stopped, io);
  if (!line) io.err.write("\n");
  return line;
}

/// "Please answer y, n or v."
std::string what_counts(const std::vector<answer>& all) {
  std::string out{"Please answer "};
  for (const auto& x : all) {
    const bool last = &x == &all.back();
    out.append(&x == all.data() ? "" : last ? " or " : ", ").append(x.key);
  }
  return out + ".\n";
}

}  // namespace

std::optional<std::string> ask_text(const std::string& question, int keyboard,
                                    const std::function<bool()>& stopped,
                                    console& io) {
  forget_typed(keyboard);
  return ask_line(question, keyboard, stopped, io);
}

std::optional<std::size_t> ask(const std::string& question,
                               const std::vector<answer>& all, int keyboard,
                               const std::function<bool()>& stopped,
                               console& io, const other_typing& other) {
  std::string asked = question + " (a letter and Enter)";
  for (const auto& x : all)
    asked.append(&x == all.data() ? " " : ", ").append(x.offered);
  if (other.before)
    other.before();
  else
    forget_typed(keyboard);
  for (;;) {
    const auto line = ask_line(asked + " > ", keyboard, stopped, io);
    if (!line) return std::nullopt;
    if (const auto given = answer_in(*line, all)) return given;
    if (other.no_answer && !trimmed(*line).empty()) other.no_answer(*line);
    io.say(what_counts(all));
  }
}

bool confirm(const std::string& question, int keyboard,
             const std::function<bool()>& stopped, console& io,
             const std::string& view, const other_typing& other) {
  std::vector<answer> all{{"y", "yes", "[y]es"}, {"n", "no", "[n]o"}};
  if (!view.empty()) all.push_back({"v", "view", "[v]iew all"});
  for (;;) {
    const auto given = ask(question, all, keyboard, stopped, io, other);
    if (given != 2) return given == 0;
    io.say(view);
  }
}

bool ask_for_trust(const config::trust_state& x, int keyboard, console& io,
                   const other_typing& other) {
  const auto text = trust_text(x);
  const auto whole = trust_text(x, true);
  io.say(text);
  return confirm(
      trust_question(x), keyboard, [] { return false; }, io,
      whole == text ? std::string{} : whole, other);
}

}  // namespace riffle::cli
