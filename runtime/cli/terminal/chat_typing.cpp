// SPDX-License-Identifier: MIT
// What is typed in a conversation while a run works: a part of its prompt.
#include <algorithm>
#include <csignal>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/approval_dialog.hpp"
#include "runtime/cli/terminal/chat_prompt.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/chat_line.hpp"

namespace riffle::cli {

namespace {

constexpr std::string_view no_editor_yet =
    "Your editor can be opened when the run has ended.\n";

/// Bytes of a line that are looked at, on either side of the cursor.
constexpr std::size_t most_of_line = 2000;

/// Of a line that is too long its end: there it is written on.
std::string end_of(std::string_view line, std::size_t columns) {
  if (line.size() > most_of_line)
    line.remove_prefix(line.size() - most_of_line);
  while (!line.empty() && (line.front() & 0xC0) == 0x80) line.remove_prefix(1);
  auto safe = safe_line(line, most_of_line);
  if (line.ends_with(' ') && !safe.empty()) safe += ' ';
  std::string_view rest = safe;
  if (columns_of(rest) <= columns) return safe;
  while (!rest.empty() && columns_of(rest) >= columns)
    rest.remove_prefix(first_shown(rest).size);
  return "…" + std::string{rest};
}

/// The part around the cursor, which stands at `at`: a bar is in its place,
/// since that of the terminal stands elsewhere.
std::string around(std::string_view line, std::size_t at, std::size_t columns) {
  if (at >= line.size()) return end_of(line, columns);
  constexpr std::string_view bar = "│";
  const auto behind = line.substr(at);
  auto right = safe_line(cut_utf8(behind, most_of_line), most_of_line);
  if (behind.starts_with(' ')) right.insert(0, 1, ' ');
  const auto room = columns - 1;
  const auto left =
      end_of(line.substr(0, at), room - std::min(columns_of(right), room / 3));
  return left + std::string{bar} + fit(right, room - columns_of(left));
}

/// Nobody shall think that it did something.
std::string text_of_early_key(std::string_view letter) {
  return "\"" + std::string{letter} +
         "\" answered nothing, and was not sent: a question takes its key "
         "once it stands there, without Enter.\n";
}

std::string counted_lines(std::ptrdiff_t n, const char* where) {
  if (n == 0) return {};
  return "(" + std::to_string(n) + (n == 1 ? " line " : " lines ") + where +
         ") ";
}

}  // namespace

void close_completed_word(line_editor& editor, std::string_view before,
                          const key& typed) {
  const bool closes =
      typed.what == key_kind::text && typed.text.starts_with(':');
  const auto now = std::string_view{editor.text()}.substr(0, editor.cursor());
  if (closes && path_before(before).found && now != before &&
      now.ends_with(' '))
    editor.replace_before(1, {});
}

void chat_prompt::look() {
  if (plain_ || closed_ || mode_.now() != typing_mode::keys) return;
  std::string bytes;
  const bool more = read_some(bytes, 0);
  const auto now = std::chrono::steady_clock::now();
  if (more && escape_at_ && keys_.drop_escape_before(bytes, now - *escape_at_))
    on_escape();
  take(more ? keys_.feed(bytes) : std::vector<key>{});
  look_for_escape();
  if (list_.pending()) settle_list();
}

void chat_prompt::on_escape() {
  escape_at_.reset();
  if (list_.close()) return;
  ::kill(::getpid(), SIGINT);
}

/// An ESC that nothing follows stops what works, as Ctrl-C does, but where it
/// closes a list.
void chat_prompt::look_for_escape() {
  if (!keys_.has_escape()) return escape_at_.reset();
  const auto now = std::chrono::steady_clock::now();
  if (!escape_at_) escape_at_ = now;
  if (now - *escape_at_ < escape_gap) return;
  keys_.drop_escape();
  on_escape();
}

/// What was queued last is changed, or thrown away.
void chat_prompt::take_back() {
  if (told_ == queue_.size()) {
    answers_ += "It waits for the next step, and cannot be taken back.\n";
    return;
  }
  editor_.give(queue_.back());
  queue_.pop_back();
  ever_told_ = std::min(ever_told_, queue_.size());
}

bool chat_prompt::answer(const std::string& text) {
  if (!answerer_) return false;
  const auto found = answerer_(text);
  if (found) answers_ += *found;
  return found.has_value();
}

bool chat_prompt::is_meant_for_question(const std::string& marked) const {
  return question_at_ &&
         std::chrono::steady_clock::now() - *question_at_ <
             meant_for_question &&
         is_answer_key(trimmed(marked));
}

void chat_prompt::beside_question() {
  question_at_ = std::chrono::steady_clock::now();
  list_.hide();
  if (held_) return;  // it waits for an Enter of its own
  for (auto i = ever_told_; i < queue_.size();) {
    if (!is_answer_key(trimmed(queue_[i]))) {
      ++i;
      continue;
    }
    answers_ += text_of_early_key(trimmed(queue_[i]));
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void chat_prompt::keep(const std::string& text) {
  editor_.insert(safe_text(text));
  last_key_ = std::chrono::steady_clock::now();
  kept_ = true;
}

/// An Enter that was meant for what is gone.
bool chat_prompt::holds_back(const key& x) {
  if (editor_.text().empty()) kept_ = false;
  return x.what == key_kind::enter && std::exchange(kept_, false);
}

void chat_prompt::take(std::vector<key> keys) {
  for (auto& x : keys) pressed_.push_back(std::move(x));
  const bool typed = !pressed_.empty();
  while (!pressed_.empty()) {
    const auto x = std::move(pressed_.front());
    pressed_.pop_front();
    last_key_ = std::chrono::steady_clock::now();
    close_completed_word(editor_, listed_for_, x);
    if (x.what != key_kind::tab) listed_for_.clear();
    if (list_takes(x)) continue;
    list_.after(x);
    if (x.what == key_kind::up && editor_.text().empty() && !queue_.empty()) {
      take_back();
      continue;
    }
    if (x.what == key_kind::enter && editor_.text().empty() && can_tell()) {
      tell();
      continue;
    }
    if (holds_back(x)) {
      answers_ += wrap_lines(was_a_reason, screen_.columns());
      continue;
    }
    switch (editor_.on(x)) {
      // Once more, and the person stays.
      case editor_event::end_of_input: leaves_later_ = !leaves_later_; break;
      case editor_event::full: screen_.write("\a"); break;
      case editor_event::edit:
        answers_ += wrap_lines(no_editor_yet, screen_.columns());
        break;
      case editor_event::complete:
        if (const auto choices = complete_word(); !choices.empty()) {
          list_.hide();
          answers_ += choices;
        }
        break;
      case editor_event::submitted:
        end_list();
        submit();
        break;
      default: break;
    }
  }
  if (typed) settle_list();
}

/// What only looks is answered at once, all else waits for its turn.
void chat_prompt::submit() {
  if (queue_.size() >= most_queued) {
    screen_.write("\a");
    return;
  }
  auto text = editor_.take_marked();
  const bool blank = text.find_first_not_of(" \t\n") == std::string::npos;
  if (blank || answer(editor_.whole(text))) return;
  if (is_meant_for_question(text)) {
    answers_ += text_of_early_key(trimmed(text));
    return;
  }
  queue_.push_back(std::move(text));
  release_pieces();
}

void chat_prompt::tell_with(teller f, std::function<void()> heard) {
  teller_ = std::move(f);
  on_heard_ = std::move(heard);
  told_ = ever_told_ = 0;
}

/// What a command does is no word to a model, nor is a word that leaves.
bool chat_prompt::can_tell() const {
  if (!teller_ || held_ || told_ >= queue_.size()) return false;
  const auto next = parse_chat_line(editor_.whole(queue_[told_]));
  return next.what == chat_act::task && !wants_to_leave(next.rest);
}

/// What names a file may attach it, and would be refused.
bool chat_prompt::offers_to_tell() const {
  return can_tell() && mentioned_files(editor_.whole(queue_[told_])).empty();
}

void chat_prompt::tell() {
  while (can_tell()) {
    if (const auto why = teller_(editor_.whole(queue_[told_]))) {
      answers_ += *why;
      return;
    }
    ever_told_ = std::max(ever_told_, ++told_);
  }
}

void chat_prompt::on_heard(const std::string& text) {
  for (std::size_t i = 0; i < ever_told_; ++i) {
    if (parse_chat_line(editor_.whole(queue_[i])).rest != text) continue;
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
    --ever_told_;
    if (i < told_) --told_;
    on_heard_();
    return;
  }
}

std::vector<std::string> chat_prompt::queued() const {
  std::vector<std::string> out;
  for (const auto& x : queue_) out.push_back(editor_.whole(x));
  return out;
}

std::vector<std::string> chat_prompt::unsent() const {
  std::vector<std::string> out;
  for (const auto& x : queue_) out.push_back(editor_.shown(x));
  if (!editor_.text().empty()) out.push_back(editor_.shown(editor_.text()));
  return out;
}

/// Where there is room, with what Enter does and with what Up takes back.
/// `beside`: columns of what else stands in the row.
std::string chat_prompt::queued_text(std::size_t beside) const {
  constexpr std::size_t longest = 30;
  constexpr std::size_t shortest = 12;
  const auto waits = queue_.size() - told_;
  std::string out = "(";
  if (told_ > 0) out += std::to_string(told_) + " for the next step";
  if (waits > 0)
    out += (told_ > 0 ? ", " : "") + std::to_string(waits) + " queued";
  // A few columns are for what is typed next, and ") ".
  const auto used = columns_of(out) + beside + shortest;
  auto room = screen_.columns() > used ? screen_.columns() - used : 0;
  const std::string_view now = ", Enter: say it now";
  if (waits > 0 && editor_.text().empty() && offers_to_tell() &&
      room >= now.size()) {
    out += now;
    room -= now.size();
  }
  // Up gives back what is queued; what was said can only be read.
  const std::string_view last = waits > 0 ? ", Up: " : ": ";
  if (editor_.text().empty() && room >= last.size() + shortest)
    out.append(last).append(
        fit(with_dots(safe_line(editor_.shown(queue_.back()), 200), longest),
            room - last.size()));
  return out + ") ";
}

/// What a person has written stands out from what came of it.
std::string chat_prompt::set_off(const std::string& row) const {
  return color_ ? "\x1b[1m" + row + "\x1b[0m" : row;
}

std::string chat_prompt::draft() const {
  std::string out;
  if (leaves_later_)
    out = !editor_.text().empty() ? "(leaves once this line is empty) "
          : queue_.empty()        ? "(leaves when the run has ended) "
                                  : "(leaves behind that) ";
  if (!queue_.empty())
    out.insert(0, queued_text(columns_of(out) + columns_of(mark_)));
  if (out.empty() && editor_.text().empty()) return {};
  const auto text = editor_.shown(editor_.text());
  const std::string_view whole = text;
  const auto before = editor_.shown(
      std::string_view{editor_.text()}.substr(0, editor_.cursor()));
  const auto at = before.size();
  const auto begin = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto end = std::min(text.find('\n', at), text.size());
  out += counted_lines(std::ranges::count(before, '\n'), "above") +
         counted_lines(std::ranges::count(whole.substr(end), '\n'), "below");
  const auto used = columns_of(out) + columns_of(mark_) + 2;
  const auto columns = std::max<std::size_t>(screen_.columns(), used + 8);
  return out + mark_ +
         around(whole.substr(begin, end - begin), at - begin, columns - used);
}

}  // namespace riffle::cli
