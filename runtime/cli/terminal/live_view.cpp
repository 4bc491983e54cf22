// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/live_view.hpp"

#include <iterator>
#include <utility>

#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t longest_thought = 4000;

trace_options trace_options_of(const view_options& x) {
  const bool in_status = x.status && x.level != verbosity::verbose;
  return {x.level, x.color, !in_status, x.asks};
}

}  // namespace

live_view::live_view(view_options options)
    : options_{options},
      traces_{trace_options_of(options)},
      screen_{options.status} {}

bool live_view::wants_text() const noexcept {
  return options_.live_text || options_.status || options_.reasoning;
}

void live_view::append(screen_writes& out, screen_writes more) {
  out.insert(out.end(), std::move_iterator{more.begin()},
             std::move_iterator{more.end()});
}

screen_writes live_view::on(const event& x, time_point now,
                            std::size_t columns) {
  if (!began_) began_ = now;
  screen_writes out;
  traces_.set_columns(columns);
  activity_.on(x);
  stats_.on(x);
  if (const auto* text = std::get_if<events::llm_token>(&x.body)) {
    end_reasoning(out);
    on_text(out, text->content);
    return out;
  }
  if (const auto* thought = std::get_if<events::llm_reasoning>(&x.body)) {
    on_reasoning(out, thought->content);
    return out;
  }
  end_reasoning(out);
  auto lines = traces_.on(x);
  const bool restarted = std::holds_alternative<events::step_restarted>(x.body);
  if (restarted && !shown_.empty()) lines += traces_.withdrawn();
  if (restarted || std::holds_alternative<events::step_start>(x.body)) {
    append(out, screen_.end_text());
    shown_.clear();
    half_end_ = false;
  }
  append(out, screen_.lines(lines));
  return out;
}

void live_view::on_text(screen_writes& out, std::string_view content) {
  if (!options_.live_text) return;
  shown_ += content;
  std::string piece = std::exchange(half_end_, false) ? "\r" : "";
  piece += content;
  if (piece.ends_with('\r')) {
    half_end_ = true;
    piece.pop_back();
  }
  append(out, screen_.text(safe_text(piece)));
}

std::string live_view::reasoning_line(std::string_view line) const {
  const auto text = safe_line(line, longest_thought);
  if (text.empty()) return {};
  return options_.color ? "\x1b[2m[THINK] " + text + "\x1b[0m\n"
                        : "[THINK] " + text + "\n";
}

void live_view::on_reasoning(screen_writes& out, std::string_view content) {
  if (!options_.reasoning) return;
  thought_ += content;
  std::string lines;
  std::size_t end = 0;
  while ((end = thought_.find('\n')) != std::string::npos ||
         thought_.size() > longest_thought) {
    lines += reasoning_line(std::string_view{thought_}.substr(0, end));
    thought_.erase(0, end == std::string::npos ? end : end + 1);
  }
  append(out, screen_.lines(lines));
}

void live_view::end_reasoning(screen_writes& out) {
  append(out, screen_.lines(reasoning_line(std::exchange(thought_, {}))));
}

screen_writes live_view::tick(time_point now, std::size_t columns) {
  constexpr std::size_t narrowest = 4;
  if (!began_) began_ = now;
  if (columns < narrowest || !screen_.due(activity_.busy(), now)) return {};
  // The last column stays free: a full line makes some terminals wrap.
  auto status = activity_.line(now - *began_, columns - 1);
  if (!typing_.empty()) status += "\n" + fit(typing_, columns - 1);
  return screen_.draw(status, activity_.busy(), now);
}

screen_writes live_view::finish(const std::optional<std::string>& answer) {
  auto out = screen_.clear();
  const bool shown = options_.live_text && answer && *answer == shown_;
  append(out, screen_.end_text());
  if (answer && !shown) {
    auto text = options_.out_terminal ? safe_text(*answer) : *answer;
    if (!text.ends_with('\n')) text += '\n';
    append(out, screen_.text(text));
  }
  if (options_.stats) append(out, screen_.lines(stats_.to_text()));
  return out;
}

}  // namespace riffle::cli
