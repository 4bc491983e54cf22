// SPDX-License-Identifier: MIT
#include "runtime/cli/view/live_view.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"

namespace riffle::cli {

namespace {

/// Longest that a line about a call waits for the end of a sentence.
constexpr auto longest_sentence = std::chrono::seconds{2};

/// So long a person waits for what he asked for until a paragraph ends, then
/// until a sentence does.
constexpr auto longest_paragraph = std::chrono::seconds{3};
constexpr auto longest_aside = std::chrono::seconds{6};

/// So long text may follow behind a call that began.
constexpr auto text_may_go_on = std::chrono::milliseconds{300};

bool says_nothing(std::string_view text) {
  return text.find_first_not_of(" \r\n\t") == std::string_view::npos;
}

/// If nothing comes: "3." may become "3.5".
bool may_end_sentence(std::string_view text) {
  const auto end = text.find_last_not_of(" \n");
  return end != std::string_view::npos &&
         std::string_view{".!?:"}.find(text[end]) != std::string_view::npos;
}

/// And all its words are shown: a blank ends the last one.
bool ends_sentence(std::string_view text) {
  return may_end_sentence(text) && (text.back() == ' ' || text.back() == '\n');
}

bool is_end(const event& x) {
  return std::holds_alternative<events::failure>(x.body) ||
         std::holds_alternative<events::run_finished>(x.body);
}

}  // namespace

live_view::live_view(const view_options& options)
    : work_view{options, {.several = false}},
      run_{*working(0)},
      markdown_{options.styled} {}

bool live_view::wants_calls() const noexcept {
  return wants_text() || options_.stats || options_.level != verbosity::quiet;
}

/// Behind this the text of the model does not go on in the same line.
bool live_view::ends_text(const event& x) const {
  const bool early = std::holds_alternative<events::tool_call>(x.body) &&
                     options_.level == verbosity::verbose;  // it has a line
  // A plan is changed once the model has said what it had to say.
  return early || std::holds_alternative<events::approval_required>(x.body) ||
         std::holds_alternative<events::plan_updated>(x.body) || is_end(x);
}

/// A call that only reads begins while the model still writes: its text may go
/// on, or not.
bool live_view::may_end_text(const event& x) {
  const auto* told = std::get_if<events::status>(&x.body);
  return std::holds_alternative<events::tool_call>(x.body) ||
         (told && activity::is_writing(told->text));
}

/// What is held of the text; it goes on at most in a new line.
void live_view::pause_text(screen_writes& out) {
  pauses_.reset();
  flows_ = speaks_ = false;
  if (!screen_.in_text()) markdown_.broken(below_lines_ || next_text_);
  show_text(out, markdown_.pause(columns_));
}

/// The last word, which nobody is to wait for where the model does nothing.
void live_view::settle_text(screen_writes& out) {
  if (!screen_.in_text()) markdown_.broken(below_lines_ || next_text_);
  show_text(out, markdown_.settle(columns_));
}

bool live_view::begins_step(const event& x) {
  return std::holds_alternative<events::step_start>(x.body) ||
         std::holds_alternative<events::final_answer>(x.body);
}

/// A line of the text is open, shown or held.
bool live_view::in_line() const {
  return screen_.in_text() || (options_.rendered && markdown_.in_line());
}

/// No line about a call that works beside the text stands inside of a sentence,
/// nor before the words that came before it.
bool live_view::waits(const event& x) const {
  const bool beside = std::holds_alternative<events::tool_result>(x.body) ||
                      std::holds_alternative<events::tool_progress>(x.body);
  return beside && flows_ && in_line() && options_.out_terminal &&
         options_.status;
}

void live_view::release(screen_writes& out) {
  const auto lines = std::exchange(held_, {});
  show_lines(out, lines);
}

screen_writes live_view::on(const event& x, time_point now,
                            std::size_t columns) {
  seen(now);
  screen_writes out;
  columns_ = columns;
  stats_.on(x);
  auto said = run_.on(x, columns);
  show_lines(out, wrapped(std::move(said.thoughts), columns_));
  if (std::holds_alternative<events::llm_reasoning>(x.body)) return out;
  if (const auto* text = std::get_if<events::llm_token>(&x.body)) {
    pauses_.reset();
    text_at_ = now;
    if (options_.live_text && !says_nothing(text->content))
      show_lines(out, run_.before_text());
    on_text(out, text->content, now);
    flows_ = in_line();
    if (!flows_ || (screen_.in_text() && ends_sentence(text->content)))
      release(out);
    return out;
  }
  const bool restarted = std::holds_alternative<events::step_restarted>(x.body);
  const bool begins = restarted || begins_step(x);
  if (restarted) markdown_.drop();
  if (ends_text(x) || begins) pause_text(out);
  if (begins || is_end(x)) show_text(out, markdown_.finish(columns_));
  if (may_end_text(x) && !pauses_) pauses_ = now;
  auto lines = wrapped(std::move(said.traces), columns_);
  if (restarted && !shown_.empty()) lines += run_.withdrawn();
  if (begins) append(out, screen_.end_text());
  if (begins || ends_text(x)) release(out);
  if (waits(x)) {
    if (held_.empty()) held_since_ = now;
    held_ += lines;
    return out;
  }
  if (restarted || std::holds_alternative<events::step_start>(x.body)) {
    shown_.clear();
    half_end_ = false;
    next_text_ = below_text_;
  }
  // Nothing waits there, and the line ends with all of its words.
  if (!lines.empty() && !options_.status && in_line()) pause_text(out);
  show_lines(out, lines);
  show_notes(out);
  show_asides(out, now);
  return out;
}

/// Line by line where something waits for the end of a paragraph.
void live_view::on_text(screen_writes& out, std::string_view content,
                        time_point now) {
  for (auto end = content.find('\n'); !asides_.empty() && end != content.npos;
       end = content.find('\n')) {
    take_text(out, content.substr(0, end + 1));
    content.remove_prefix(end + 1);
    show_asides(out, now);
  }
  if (!content.empty()) take_text(out, content);
  show_asides(out, now);
}

void live_view::take_text(screen_writes& out, std::string_view content) {
  if (!options_.live_text) return;
  shown_ += content;
  speaks_ = speaks_ || (options_.out_terminal && !says_nothing(content));
  if (!options_.out_terminal) return show_text(out, std::string{content});
  std::string piece = std::exchange(half_end_, false) ? "\r" : "";
  piece += content;
  if (piece.ends_with('\r')) {
    half_end_ = true;
    piece.pop_back();
  }
  auto safe = safe_text(piece);
  if (!options_.rendered) return show_text(out, std::move(safe));
  if (!screen_.in_text()) markdown_.broken(below_lines_ || next_text_);
  show_text(out, markdown_.on(safe, columns_));
}

/// One blank line stands between traces and what a person is to read, and
/// between the texts of two steps.
void live_view::show_text(screen_writes& out, std::string text) {
  if (text.empty()) return;
  const bool apart = std::exchange(next_text_, false);
  if (std::exchange(below_lines_, false) || apart) text.insert(0, "\n");
  below_text_ = options_.out_terminal;
  append(out, screen_.text(text));
}

void live_view::show_lines(screen_writes& out, std::string_view lines) {
  if (lines.empty()) return;
  if (options_.rendered) show_text(out, markdown_.leave_fence(columns_));
  write_lines(out, std::exchange(held_, {}) + std::exchange(notes_, {}) +
                       std::string{lines});
}

void live_view::write_lines(screen_writes& out, std::string_view lines) {
  append(out, screen_.lines(lines));
  below_lines_ = options_.status && options_.out_terminal;
  if (options_.status) below_text_ = next_text_ = false;
}

/// It may be bytes that are bound to what stands there: nothing comes between.
screen_writes live_view::interject(std::string_view text) {
  screen_writes out;
  if (!text.empty()) write_lines(out, text);
  return out;
}

screen_writes live_view::note(std::string_view lines, std::size_t columns) {
  screen_writes out;
  notes_ += wrapped(std::string{lines}, columns);
  show_notes(out);
  return out;
}

void live_view::show_notes(screen_writes& out) {
  constexpr std::size_t most = 64u << 10;
  if (notes_.empty() || (speaks_ && notes_.size() < most)) return;
  write_lines(out, std::exchange(notes_, {}));
}

bool live_view::ends_block() const {
  return options_.rendered ? markdown_.between_blocks()
                           : shown_.empty() || shown_.ends_with("\n\n");
}

screen_writes live_view::aside(std::string_view lines, time_point now) {
  screen_writes out;
  if (lines.empty()) return out;
  if (asides_.empty()) asides_since_ = now;
  asides_ += lines;
  show_asides(out, now);
  return out;
}

void live_view::show_asides(screen_writes& out, time_point now) {
  if (asides_.empty()) return;
  const auto waited = now - asides_since_;
  const bool may = !speaks_ || ends_block() || waited >= longest_aside ||
                   (waited >= longest_paragraph && ends_sentence(shown_));
  if (may) write_lines(out, std::exchange(asides_, {}));
}

screen_writes live_view::leave_line() {
  auto out = screen_.clear();
  pause_text(out);
  release(out);
  append(out, screen_.leave_line());
  return out;
}

screen_writes live_view::tick(time_point now, view_size size) {
  seen(now);
  screen_writes out;
  show_lines(out, rest());
  if (pauses_ && now - *pauses_ >= text_may_go_on) {
    pause_text(out);
    release(out);
  }
  const bool rests = now - text_at_ >= text_may_go_on;
  if (rests && in_line()) settle_text(out);
  const bool ended = rests && may_end_sentence(shown_);
  if (!held_.empty() && (ended || now - held_since_ >= longest_sentence)) {
    if (ended || !screen_.in_text()) pause_text(out);
    release(out);
  }
  show_notes(out);
  show_asides(out, now);
  append(out, draw(now, size));
  return out;
}

screen_writes live_view::finish(const std::optional<std::string>& answer) {
  auto out = screen_.clear();
  release(out);
  show_lines(out, rest() + run_.end(true));
  const bool shown = options_.live_text && answer && *answer == shown_;
  pause_text(out);
  show_text(out, markdown_.finish(columns_));
  append(out, screen_.end_text());
  if (answer && !shown) {
    auto text = whole_answer(*answer, columns_);
    if (!text.ends_with('\n')) text += '\n';
    show_text(out, text);
  }
  show_notes(out);
  if (!asides_.empty()) write_lines(out, std::exchange(asides_, {}));
  if (options_.stats)
    append(out, screen_.lines(wrapped(stats_.to_text(), columns_)));
  return out;
}

}  // namespace riffle::cli
