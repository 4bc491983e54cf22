// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/chat_prompt.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/editor.hpp"
#include "runtime/cli/terminal/erasure.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/suspension.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/terminal/waiting_log.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"

namespace riffle::cli {

namespace {

constexpr std::string_view paste_on = "\x1b[?2004h";
constexpr std::string_view paste_off = "\x1b[?2004l";
constexpr int look_ms = 100;

}  // namespace

chat_prompt::chat_prompt(unique_fd keyboard, fd_writer& screen, bool plain,
                         bool color)
    : keyboard_{std::move(keyboard)},
      screen_{screen},
      plain_{plain},
      color_{color},
      mode_{keyboard_.get()},
      title_{!plain, screen} {}

chat_prompt::~chat_prompt() {
  if (!plain_) screen_.write(paste_off);
}

bool chat_prompt::read_some(std::string& out, int wait_ms) {
  pollfd ready{keyboard_.get(), POLLIN, 0};
  if (::poll(&ready, 1, wait_ms) <= 0) return false;
  std::array<char, 16384> piece{};
  const auto n = ::read(keyboard_.get(), piece.data(), piece.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return false;
  if (n <= 0) {
    closed_ = true;
    return false;
  }
  out.assign(piece.data(), static_cast<std::size_t>(n));
  return true;
}

/// Up to the row where the prompt begins; a terminal that became narrower has
/// wrapped those that are too long for it, and no others.
std::string chat_prompt::erasure(std::size_t columns) {
  std::size_t rows = 0;
  for (const auto& row : above_) rows += wrapped_rows(row, columns);
  above_.clear();
  return (rows < 2 ? "\r" : "\r\x1b[" + std::to_string(rows - 1) + "A") +
         std::string{erase_rows};
}

void chat_prompt::erase() {
  screen_.write(erasure(std::max<std::size_t>(screen_.columns(), 2)));
}

void chat_prompt::show(bool over) {
  const auto columns = std::max<std::size_t>(screen_.columns(), 2);
  const auto rows = std::max<std::size_t>(screen_.rows(), 4);
  shown_columns_ = columns;
  shown_rows_ = screen_.rows();
  const auto x = editor_.draw(mark_, columns - 1, rows - 1);
  const auto list = list_below(columns - 1, x.rows.size());
  auto bytes = erasure(columns);
  for (std::size_t i = 0; i < x.rows.size(); ++i)
    bytes.append(i == 0 ? "" : "\r\n")
        .append(over ? set_off(x.rows[i]) : x.rows[i]);
  for (const auto& row : list) bytes.append("\r\n").append(row);
  const auto below = x.rows.size() - 1 - x.cursor_row + list.size();
  if (below > 0) bytes += "\x1b[" + std::to_string(below) + "A";
  screen_.write(bytes + "\r" +
                (over ? set_off(x.before_cursor) : x.before_cursor));
  for (std::size_t i = 0; i <= x.cursor_row; ++i) above_.push_back(x.rows[i]);
  // Where a row is wrapped between the two, the cursor goes with the second.
  const auto behind =
      std::string_view{above_.back()}.substr(x.before_cursor.size());
  const auto under = behind.empty() ? 0 : first_shown(behind).size;
  above_.back().resize(x.before_cursor.size() + under);
}

void chat_prompt::show_above(std::string_view lines) {
  if (lines.empty()) return;
  erase();
  screen_.write(wrap_lines(lines, screen_.columns()));
  show();
}

/// The text stays on the screen, the cursor goes below it. What was `dropped`
/// is marked as at a shell: nobody shall take it for sent.
void chat_prompt::end_line(bool dropped) {
  end_list();
  while (editor_.cursor() < editor_.text().size()) {
    const auto before = editor_.cursor();
    editor_.on({key_kind::end, {}});
    if (editor_.cursor() == before) editor_.on({key_kind::right, {}});
  }
  show(!dropped && !editor_.text().empty());
  screen_.write(dropped ? "^C\n" : "\n");
  above_.clear();
}

/// In the shape that it has at the prompt.
void chat_prompt::show_taken() {
  const auto columns = std::max<std::size_t>(screen_.columns(), 2);
  const auto rows = std::max<std::size_t>(screen_.rows(), 4);
  for (const auto& row :
       editor_.draw_taken(last_, mark_, columns - 1, rows - 1))
    screen_.write(set_off(row) + "\n");
}

/// As Ctrl-Z does elsewhere: the terminal is the shell's until it goes on.
void chat_prompt::suspend() {
  end_line();
  step_aside();
  stop_group();
  begin_raw();
}

void chat_prompt::step_aside() {
  pause();
  if (!plain_) screen_.write(paste_off);
  title_.step_aside();
}

void chat_prompt::come_back() {
  if (!plain_) screen_.write(paste_on);
}

/// The text in $VISUAL or $EDITOR.
void chat_prompt::edit() {
  const auto before = editor_.whole(editor_.text());
  end_line();
  mode_.set(typing_mode::lines);
  screen_.write(paste_off);
  auto text = edit_text(before, keyboard_.get(), gave_up_, ".md");
  if (text) {
    while (text->ends_with('\n')) text->pop_back();
    editor_.replace(*text);
  } else {
    screen_.write(safe_line(text.error().message, 300) + "\n");
  }
  begin_raw();
}

/// The next of what waits for an Enter, if nothing else stands there.
void chat_prompt::offer_held() {
  if (!held_ || !editor_.text().empty()) return;
  held_ = !queue_.empty();
  if (!held_) return;
  editor_.give(queue_.front());
  queue_.pop_front();
}

void chat_prompt::begin_raw() {
  offer_held();
  const bool read_lines = mode_.now() == typing_mode::lines;
  mode_.set(typing_mode::raw);
  int waiting = 0;
  if (read_lines && ::ioctl(keyboard_.get(), FIONREAD, &waiting) == 0 &&
      waiting > 0)
    take_burst();
  if (!window_.empty()) title_.say_again(window_);
  screen_.write(paste_on);
  above_.clear();
  drop_stale_list();
  show();
}

/// What there is to choose from, where that is not certain.
std::string chat_prompt::complete_word() {
  if (!completer_) return {};
  const auto before = editor_.before_cursor();
  const auto found = completer_(before);
  if (!found.by.empty()) editor_.replace_before(found.replaces, found.by);
  // They stand there already.
  if (std::exchange(listed_for_, before) == before) return {};
  return found.choices;
}

chat_prompt::said chat_prompt::on(const key& x) {
  const bool was_leaving = std::exchange(leaving_, false);
  close_completed_word(editor_, listed_for_, x);
  if (x.what != key_kind::tab) listed_for_.clear();
  if (list_takes(x)) return said::nothing;
  list_.after(x);
  if (x.what == key_kind::suspend) {
    suspend();
    return said::nothing;
  }
  const bool blank =
      editor_.text().find_first_not_of(" \t\n") == std::string::npos;
  if (x.what == key_kind::enter && blank) return said::nothing;
  if (holds_back(x)) {
    erase();
    screen_.write(was_a_reason);
    return said::nothing;
  }
  switch (editor_.on(x)) {
    case editor_event::submitted: end_line(); return said::text;
    case editor_event::end_of_input: end_line(); return said::leave;
    case editor_event::interrupted:
      if (editor_.text().empty() && was_leaving) {
        end_line();
        return said::leave;
      }
      leaving_ = editor_.text().empty();
      end_line(!leaving_);
      editor_.clear();
      if (leaving_)
        screen_.write(color_
                          ? "\x1b[2mCtrl-C again, or Ctrl-D, leaves.\x1b[0m\n"
                          : "Ctrl-C again, or Ctrl-D, leaves.\n");
      offer_held();
      return said::nothing;
    case editor_event::complete:
      if (const auto choices = complete_word(); !choices.empty()) {
        list_.hide();  // it stands above now
        erase();
        screen_.write(choices);
      }
      return said::nothing;
    case editor_event::redraw:
      screen_.write("\x1b[H\x1b[2J");
      above_.clear();
      return said::nothing;
    case editor_event::edit: edit(); return said::nothing;
    case editor_event::full: screen_.write("\a"); return said::nothing;
    default: return said::nothing;
  }
}

/// Of long texts what nobody can come back to goes.
void chat_prompt::release_pieces() {
  std::vector<const std::string*> taken{&last_};
  for (const auto& x : queue_) taken.push_back(&x);
  editor_.release_pieces(taken);
}

std::optional<std::string> chat_prompt::next(const interrupts& signals) {
  gave_up_ = [&signals] { return signals.asked_to_stop(); };
  release_pieces();
  if (!plain_ && std::exchange(turned_, true)) screen_.write("\n");
  if (!queue_.empty() && !held_) {
    last_ = std::move(queue_.front());
    queue_.pop_front();
    show_taken();
    return editor_.whole(last_);
  }
  leaves_later_ = leaves_later();
  if (leaves_later_) return std::nullopt;
  if (plain_) return next_plain(signals);
  held_log log{log_};
  begin_raw();
  std::string bytes;
  while (!closed_ && !signals.asked_to_stop()) {
    while (!pressed_.empty()) {
      const auto x = std::move(pressed_.front());
      pressed_.pop_front();
      const auto what = on(x);
      if (what == said::leave) return std::nullopt;
      if (what == said::text) {
        last_ = editor_.take_marked();
        return editor_.whole(last_);
      }
      if (!pressed_.empty()) continue;
      settle_list();
      show();
    }
    if (asks_for_drawing()) show();
    show_above(log.take());
    if (read_some(bytes, idle_ms()))
      on_bytes(bytes);
    else
      on_silence();
  }
  close_list();
  screen_.write("\n");
  return std::nullopt;
}

/// The terminal has shown what was typed where it was typed: what came before
/// the prompt is shown behind it, which has a line of its own.
std::optional<std::string> chat_prompt::next_plain(const interrupts& signals) {
  mode_.set(typing_mode::lines);
  std::string bytes;
  while (read_some(bytes, 0)) line_ += bytes;
  auto early = line_.size();
  screen_.write(mark_);
  std::string out;
  while (!signals.asked_to_stop()) {
    const auto end = line_.find('\n');
    if (end != std::string::npos) {
      const auto line = line_.substr(0, end);
      if (end < early) screen_.write(safe_text(line) + "\n");
      early -= std::min(early, end + 1);
      out += line;
      line_.erase(0, end + 1);
      if (!out.ends_with('\\')) return safe_text(out);
      out.back() = '\n';
      continue;
    }
    if (closed_) break;
    if (read_some(bytes, look_ms)) line_ += bytes;
  }
  screen_.write("\n");
  return std::nullopt;
}

std::size_t chat_prompt::hold_back() {
  if (queue_.empty()) return 0;
  if (!editor_.text().empty()) queue_.push_back(editor_.take_marked());
  held_ = true;
  return queue_.size();
}

void chat_prompt::give_back() {
  if (!plain_) editor_.give(std::exchange(last_, {}));
}

void chat_prompt::hold() {
  if (!plain_) mode_.set(typing_mode::raw);
}

void chat_prompt::go_on() {
  if (!plain_) mode_.set(typing_mode::keys);
}

}  // namespace riffle::cli
