// SPDX-License-Identifier: MIT
// What was typed before the keys of a conversation were read, and lists that a
// person chooses from: a part of its prompt.
#include <algorithm>
#include <poll.h>
#include <termios.h>
#include <unistd.h>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/chat_prompt.hpp"
#include "runtime/cli/terminal/confirm.hpp"
#include "runtime/cli/terminal/erasure.hpp"
#include "runtime/cli/terminal/list_picker.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/suspension.hpp"
#include "runtime/cli/terminal/waiting_log.hpp"

namespace riffle::cli {

namespace {

/// More lines in one burst were not typed one by one.
constexpr std::ptrdiff_t most_typed = 20;

/// Between two pieces of a burst.
constexpr int burst_gap_ms = 100;

std::string with_line_feeds(const std::string& bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != '\r')
      out += bytes[i];
    else if (i + 1 == bytes.size() || bytes[i + 1] != '\n')
      out += '\n';
  return out;
}

}  // namespace

/// Up to a pause; no more than a paste may have.
std::string chat_prompt::read_burst() {
  std::string out;
  for (std::string piece; out.size() < key_reader::longest_paste &&
                          read_some(piece, burst_gap_ms);)
    out += piece;
  return out;
}

/// Where lines were read, the terminal made a line feed of Enter; here that is
/// a key of its own. A text of many lines was pasted, and is one.
void chat_prompt::take_burst() { press(read_burst()); }

void chat_prompt::press(std::string bytes) {
  const auto lines = std::ranges::count_if(
      bytes, [](char c) { return c == '\n' || c == '\r'; });
  const bool marked = bytes.find("\x1b[200~") != bytes.npos;
  if (lines > most_typed && !marked) {
    pressed_.push_back({key_kind::text, safe_text(with_line_feeds(bytes))});
    return;
  }
  std::ranges::replace(bytes, '\n', '\r');
  for (auto& x : keys_.feed(bytes)) pressed_.push_back(std::move(x));
}

other_typing chat_prompt::kept_beside_questions() {
  return {[this] { hold_early(); },
          [this](const std::string& x) { hold_line(x); }};
}

/// There is no line in which it could stand.
void chat_prompt::drop_early(const char* when) {
  pollfd ready{keyboard_.get(), POLLIN, 0};
  auto text = ::poll(&ready, 1, 0) > 0
                  ? safe_text(with_line_feeds(read_burst()))
                  : std::string{};
  if (text.find_first_not_of(" \n") == std::string::npos) return;
  if (!text.ends_with('\n')) text += '\n';
  screen_.write("Not sent, as it was typed " + std::string{when} + ":\n" +
                text);
}

void chat_prompt::hold_early() {
  if (plain_) return drop_early("before the question");
  const auto text = safe_text(with_line_feeds(read_early()));
  mode_.set(typing_mode::lines);
  if (text.empty()) return;
  give_open();
  const bool pasted = std::ranges::count(text, '\n') > most_typed;
  for (std::size_t at = 0; at < text.size();) {
    const auto end =
        pasted ? text.size() : std::min(text.find('\n', at), text.size());
    editor_.insert(std::string_view{text}.substr(at, end - at));
    if (auto held = editor_.take_marked(); !held.empty())
      queue_.push_back(std::move(held));
    at = end + 1;
  }
  held_ = held_ || !queue_.empty();
  open_ = !pasted && !text.ends_with('\n');
}

/// A line without its end can be read only key by key.
std::string chat_prompt::read_early() {
  mode_.set(typing_mode::keys);
  pollfd ready{keyboard_.get(), POLLIN, 0};
  return ::poll(&ready, 1, 0) > 0 ? read_burst() : std::string{};
}

bool chat_prompt::shows_typing() const {
  // In the background it is as the shell above wants it.
  termios now{};
  return !is_in_foreground(keyboard_.get()) ||
         ::tcgetattr(keyboard_.get(), &now) != 0 || (now.c_lflag & ECHO) != 0;
}

std::size_t chat_prompt::take_over(bool stopped, bool secret) {
  if (secret) {
    // A line without its end is seen only there.
    const auto before = mode_.now();
    mode_.set(typing_mode::keys);
    pollfd ready{keyboard_.get(), POLLIN, 0};
    const bool typed = ::poll(&ready, 1, 0) > 0;
    ::tcflush(keyboard_.get(), TCIFLUSH);
    if (plain_) mode_.set(before);
    if (typed)
      screen_.write(
          "What you typed beside it is left out, since it did not show "
          "that.\n");
  }
  if (plain_) {
    drop_early("beside the command");
    return 0;
  }
  auto bytes = read_early();
  if (bytes.empty() && !stopped) return 0;
  screen_.write(erase_rows);  // its echo; it stands in the line now
  press(std::move(bytes));
  queue_pressed();
  const auto waits = hold_back();
  return waits > 0 || editor_.text().empty() ? waits : 1;
}

/// Also those that came before the command began.
void chat_prompt::queue_pressed() {
  while (!pressed_.empty()) {
    const auto x = std::move(pressed_.front());
    pressed_.pop_front();
    if (editor_.on(x) != editor_event::submitted) continue;
    if (auto text = editor_.take_marked(); !text.empty())
      queue_.push_back(std::move(text));
  }
}

/// What came without an end goes on in the line.
void chat_prompt::give_open() {
  if (std::exchange(open_, false) && !queue_.empty()) take_back();
}

void chat_prompt::hold_line(const std::string& text) {
  if (plain_) return;
  give_open();
  editor_.insert(safe_text(text));
  if (auto held = editor_.take_marked(); !held.empty())
    queue_.push_back(std::move(held));
  held_ = !queue_.empty();
}

// -- a list -------------------------------------------------------------------

std::optional<std::size_t> chat_prompt::pick(const list_picker& from,
                                             const interrupts& signals) {
  auto list = from;
  if (plain_) return pick_plain(list, signals);
  const held_log log{log_};
  mode_.set(typing_mode::raw);
  above_.clear();
  auto early = take_early();
  auto how = list_picker::outcome::goes_on;
  std::string bytes;
  while (how == list_picker::outcome::goes_on && !closed_ &&
         !signals.asked_to_stop()) {
    while (how == list_picker::outcome::goes_on && !pressed_.empty()) {
      const auto x = std::move(pressed_.front());
      pressed_.pop_front();
      if (x.what == key_kind::suspend) {
        erase();
        step_aside();
        stop_group();
        come_back();
        mode_.set(typing_mode::raw);
      } else {
        how = list.on(x);
      }
    }
    if (how != list_picker::outcome::goes_on) break;
    show_list(list);
    constexpr int look_ms = 100;
    if (read_some(bytes, look_ms)) {
      for (auto& x : keys_.feed(bytes)) pressed_.push_back(std::move(x));
    } else if (keys_.has_escape()) {
      keys_.drop_escape();
      how = list_picker::outcome::left;
    }
  }
  erase();
  pressed_.insert(pressed_.begin(), early.begin(), early.end());
  return how == list_picker::outcome::chosen ? list.at() : std::nullopt;
}

/// What was typed before a list stood there chooses nothing from it.
std::deque<key> chat_prompt::take_early() {
  auto out = std::exchange(pressed_, {});
  for (std::string bytes; read_some(bytes, 0);)
    for (auto& x : keys_.feed(bytes)) out.push_back(std::move(x));
  if (keys_.has_escape()) keys_.drop_escape();
  return out;
}

std::optional<std::size_t> chat_prompt::pick_plain(const list_picker& list,
                                                   const interrupts& signals) {
  auto early = std::exchange(line_, {});
  for (std::string bytes; read_some(bytes, 0);) early += bytes;
  screen_.write(list.numbered());
  const auto line = next_plain(signals);
  line_.insert(0, early);
  return line ? list.numbered_at(*line) : std::nullopt;
}

void chat_prompt::show_list(const list_picker& list) {
  const auto columns = std::max<std::size_t>(screen_.columns(), 8);
  const auto drawn =
      list.draw(columns, std::max<std::size_t>(screen_.rows(), 4), color_);
  const auto plain =
      list.draw(columns, std::max<std::size_t>(screen_.rows(), 4), false);
  if (plain == above_ && columns == shown_columns_) return;
  auto out = erasure(columns);
  for (std::size_t i = 0; i < drawn.size(); ++i)
    out.append(i == 0 ? "" : "\r\n").append(drawn[i]);
  screen_.write(out);
  above_ = plain;
  shown_columns_ = columns;
}

}  // namespace riffle::cli
