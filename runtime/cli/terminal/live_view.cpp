// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/live_view.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"

namespace riffle::cli {

namespace {

trace_options trace_options_of(const view_options& x) {
  const bool in_status = x.status && x.level != verbosity::verbose;
  return {x.level, x.color, !in_status, x.asks};
}

}  // namespace

live_view::live_view(view_options options)
    : options_{options},
      traces_{trace_options_of(options)},
      thoughts_{options.color},
      screen_{options.status, options.out_terminal},
      markdown_{options.styled} {}

bool live_view::wants_text() const noexcept {
  return options_.live_text || options_.status || options_.reasoning;
}

bool live_view::wants_calls() const noexcept {
  return wants_text() || options_.stats || options_.level != verbosity::quiet;
}

void live_view::append(screen_writes& out, screen_writes more) {
  out.insert(out.end(), std::move_iterator{more.begin()},
             std::move_iterator{more.end()});
}

/// Behind this the text of the model does not go on in the same line.
bool live_view::ends_text(const event& x) {
  const auto* told = std::get_if<events::status>(&x.body);
  return std::holds_alternative<events::tool_call>(x.body) ||
         std::holds_alternative<events::approval_required>(x.body) ||
         (told && activity::is_writing(told->text));
}

bool live_view::begins_step(const event& x) {
  return std::holds_alternative<events::step_start>(x.body) ||
         std::holds_alternative<events::final_answer>(x.body);
}

screen_writes live_view::on(const event& x, time_point now,
                            std::size_t columns) {
  if (!began_) began_ = now;
  screen_writes out;
  columns_ = columns;
  traces_.set_columns(columns);
  activity_.on(x);
  stats_.on(x);
  if (const auto* text = std::get_if<events::llm_token>(&x.body)) {
    show_lines(out, thoughts_.end());
    on_text(out, text->content);
    return out;
  }
  if (const auto* thought = std::get_if<events::llm_reasoning>(&x.body)) {
    if (options_.reasoning) show_lines(out, thoughts_.on(thought->content));
    return out;
  }
  show_lines(out, thoughts_.end());
  const bool restarted = std::holds_alternative<events::step_restarted>(x.body);
  const bool begins = restarted || begins_step(x);
  if (restarted) markdown_.drop();
  if (ends_text(x)) show_text(out, markdown_.pause(columns_));
  if (begins) show_text(out, markdown_.finish(columns_));
  auto lines = traces_.on(x);
  if (restarted && !shown_.empty()) lines += traces_.withdrawn();
  if (begins) append(out, screen_.end_text());
  if (restarted || std::holds_alternative<events::step_start>(x.body)) {
    shown_.clear();
    half_end_ = false;
  }
  show_lines(out, lines);
  return out;
}

void live_view::on_text(screen_writes& out, std::string_view content) {
  if (!options_.live_text) return;
  shown_ += content;
  if (!options_.out_terminal) return show_text(out, std::string{content});
  std::string piece = std::exchange(half_end_, false) ? "\r" : "";
  piece += content;
  if (piece.ends_with('\r')) {
    half_end_ = true;
    piece.pop_back();
  }
  auto safe = safe_text(piece);
  if (!options_.rendered) return show_text(out, std::move(safe));
  if (!screen_.in_text()) markdown_.broken(below_lines_);
  show_text(out, markdown_.on(safe, columns_));
}

/// One blank line stands between traces and what a person is to read.
void live_view::show_text(screen_writes& out, std::string text) {
  if (text.empty()) return;
  if (std::exchange(below_lines_, false)) text.insert(0, "\n");
  append(out, screen_.text(text));
}

void live_view::show_lines(screen_writes& out, std::string_view lines) {
  if (lines.empty()) return;
  append(out, screen_.lines(lines));
  below_lines_ = options_.status && options_.out_terminal;
}

screen_writes live_view::interject(std::string_view text) {
  screen_writes out;
  show_lines(out, text);
  return out;
}

screen_writes live_view::tick(time_point now, std::size_t columns,
                              std::size_t rows) {
  constexpr std::size_t narrowest = 4;
  constexpr std::size_t most_lines = 10;
  if (!began_) began_ = now;
  screen_writes out;
  show_lines(out, traces_.rest());
  if (columns < narrowest || !screen_.due(activity_.busy(), now)) return out;
  // The last column stays free: a full line makes some terminals wrap.
  // Half of the screen stays with what was said.
  auto status = activity_.lines(now - *began_, columns - 1,
                                std::min(rows / 2, most_lines));
  if (!typing_.empty()) status += "\n" + fit(typing_, columns - 1);
  append(out, screen_.draw(status, activity_.busy(), now, columns));
  return out;
}

std::string live_view::whole_answer(const std::string& text) const {
  if (!options_.out_terminal) return text;
  if (!options_.rendered) return safe_text(text);
  markdown x{options_.styled};
  auto out = x.on(safe_text(text), columns_);
  return out + x.finish(columns_);
}

screen_writes live_view::finish(const std::optional<std::string>& answer) {
  auto out = screen_.clear();
  show_lines(out, traces_.rest() + traces_.repeated());
  const bool shown = options_.live_text && answer && *answer == shown_;
  show_text(out, markdown_.finish(columns_));
  append(out, screen_.end_text());
  if (answer && !shown) {
    auto text = whole_answer(*answer);
    if (!text.ends_with('\n')) text += '\n';
    show_text(out, text);
  }
  if (options_.stats) append(out, screen_.lines(stats_.to_text()));
  return out;
}

}  // namespace riffle::cli
