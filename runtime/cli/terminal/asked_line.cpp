// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/asked_line.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <poll.h>
#include <termios.h>
#include <unistd.h>
#include <utility>

#include "runtime/cli/terminal/answer_gate.hpp"
#include "runtime/cli/terminal/erasure.hpp"
#include "runtime/cli/terminal/suspension.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"

namespace riffle::cli {

namespace {

constexpr int between_keys_ms = escape_gap.count();

/// What a line that is its own has nothing of: further lines, a history, names.
bool means_nothing_here(key_kind x) {
  using enum key_kind;
  return x == line || x == up || x == down || x == tab || x == search ||
         x == key_kind::editor || x == redraw;
}

bool comes_within(int keyboard, int wait_ms) {
  pollfd x{keyboard, POLLIN, 0};
  return ::poll(&x, 1, wait_ms) > 0;
}

bool stands_at_end(const editor_picture& x) {
  return x.cursor_row + 1 == x.rows.size() && x.before_cursor == x.rows.back();
}

}  // namespace

asked_line::asked_line(std::string question, int keyboard, console& io)
    : question_{std::move(question)},
      keyboard_{keyboard},
      io_{io},
      mode_{keyboard} {}

asked_line::~asked_line() { leave_screen_with(leaving::nothing); }

/// From its first row on.
void asked_line::ask() {
  seen_ = times_continued();
  mode_.set(typing_mode::raw);
  leave_screen_with(leaving::ends_line);
  keys_ = {};
  drawn_ = {};
  columns_ = std::max<std::size_t>(io_.err.columns(), 2);
  const auto rows = wrap_lines(question_, columns_);
  const auto last = rows.rfind('\n') + 1;  // npos + 1 is 0
  io_.err.write(rows.substr(0, last));
  prompt_ = rows.substr(last);
  draw();
}

void asked_line::ask_again() {
  ::tcflush(keyboard_, TCIFLUSH);
  answers_from_ = std::chrono::steady_clock::now() + answer_gate::quiet_after;
  ask();
}

std::optional<std::string> asked_line::read(
    const std::function<bool()>& stopped) {
  ask();
  while (!stopped()) {
    if (went_on()) ask_again();
    if (width_.asks_for_drawing(std::max<std::size_t>(io_.err.columns(), 2),
                                columns_, std::chrono::steady_clock::now()))
      draw();
    if (!comes_within(keyboard_, between_keys_ms)) {
      if (keys_.has_escape()) keys_.drop_escape();  // it means nothing here
      continue;
    }
    if (went_on()) continue;
    switch (read_key()) {
      case said::nothing: break;
      case said::line: return editor_.text();
      case said::none: return std::nullopt;
    }
  }
  return std::nullopt;
}

/// One byte: those behind an Enter are not of this line.
asked_line::said asked_line::read_key() {
  char byte = 0;
  const auto n = ::read(keyboard_, &byte, 1);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return said::nothing;
  if (n <= 0) return said::none;
  if (went_on()) return said::nothing;
  for (const auto& x : keys_.feed({&byte, 1}))
    if (const auto what = on(x); what != said::nothing) return what;
  if (!comes_within(keyboard_, 0)) draw();
  return said::nothing;
}

asked_line::said asked_line::on(const key& x) {
  switch (x.what) {
    case key_kind::enter:
      if (std::chrono::steady_clock::now() < answers_from_)
        return said::nothing;
      editor_.on({key_kind::end, {}});
      draw();
      io_.err.write("\n");
      return said::line;
    case key_kind::end_of_input:
      if (!editor_.text().empty()) break;
      return said::none;
    case key_kind::interrupt:
      // A signal as ever: whoever catches it says what it ends.
      io_.err.write("^C");
      mode_.set(typing_mode::lines);
      ::raise(SIGINT);
      mode_.set(typing_mode::raw);
      return said::nothing;
    case key_kind::suspend:
      io_.err.write("\n");
      mode_.set(typing_mode::lines);
      stop_group();
      ask_again();
      return said::nothing;
    default: break;
  }
  take(x);
  return said::nothing;
}

void asked_line::take(const key& x) {
  const bool full = editor_.text().size() + x.text.size() > longest;
  if (means_nothing_here(x.what) || (x.what == key_kind::text && full)) return;
  answers_from_ = {};
  editor_.on(x);
}

/// The answer behind the question, or below it where it is longer than that
/// row.
editor_picture asked_line::picture() const {
  const auto width = columns_ - 1;
  const auto& text = editor_.text();
  if (columns_of(prompt_) + columns_of(text) < width)
    return {{prompt_ + text}, 0, prompt_ + text.substr(0, editor_.cursor())};
  const auto most = std::max<std::size_t>(io_.err.rows(), 4) - 2;
  auto out = editor_.draw("> ", width, most);
  out.rows.insert(out.rows.begin(), fit(prompt_, width));
  ++out.cursor_row;
  return out;
}

/// Up to the first row that was drawn; a narrower terminal has wrapped them.
std::string asked_line::erasure() const {
  if (drawn_.rows.empty()) return {};
  const auto columns = std::max<std::size_t>(io_.err.columns(), 2);
  std::size_t above = 0;
  for (std::size_t i = 0; i < drawn_.cursor_row; ++i)
    above += wrapped_rows(drawn_.rows[i], columns);
  above += wrapped_rows(drawn_.before_cursor, columns) - 1;
  return (above == 0 ? "" : "\x1b[" + std::to_string(above) + "A") +
         std::string{erase_rows};
}

void asked_line::draw() {
  const auto columns = std::max<std::size_t>(io_.err.columns(), 2);
  const bool same_width = std::exchange(columns_, columns) == columns;
  auto x = picture();
  if (same_width && x == drawn_) return;
  const bool only_more = same_width && x.rows.size() == 1 &&
                         drawn_.rows.size() == 1 && stands_at_end(x) &&
                         stands_at_end(drawn_) &&
                         x.rows.back().starts_with(drawn_.rows.back());
  if (only_more) {
    io_.err.write(x.rows.back().substr(drawn_.rows.back().size()));
  } else {
    auto bytes = erasure();
    for (std::size_t i = 0; i < x.rows.size(); ++i)
      bytes.append(i == 0 ? "" : "\r\n").append(x.rows[i]);
    const auto below = x.rows.size() - 1 - x.cursor_row;
    if (below > 0) bytes += "\x1b[" + std::to_string(below) + "A";
    if (!stands_at_end(x)) bytes += "\r" + x.before_cursor;
    io_.err.write(bytes);
  }
  drawn_ = std::move(x);
}

}  // namespace riffle::cli
