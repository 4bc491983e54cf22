// SPDX-License-Identifier: MIT
#include "runtime/cli/view/task_view.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/diff_lines.hpp"
#include "runtime/cli/view/people_text.hpp"

namespace riffle::cli {

namespace {

/// Lines of one task that are held until it ends.
constexpr std::size_t most_kept = 200;
/// Of them those of calls that did not do what they were to.
constexpr std::size_t most_bad = 10;

/// Columns of a title where there is no terminal.
constexpr std::size_t file_columns = 100;

trace_options traces_of(const view_options& x, bool folds, bool alone) {
  // A status line tells how far a call is, where there is one.
  const bool progress = !x.status;
  // What is drawn in rows is cut to the terminal, which colours would hinder.
  return {x.level, x.color && !folds, progress, x.asks,
          alone,   x.ascii,           x.since,  alone && x.status};
}

std::string painted(std::string_view text, const char* paint, bool color) {
  if (!color) return std::string{text};
  return std::string{"\x1b["} + paint + "m" + std::string{text} + "\x1b[0m";
}

std::string dim(const std::string& text, bool color) {
  return painted(text, "2", color);
}

}  // namespace

task_view::task_view(const view_options& options, std::string place,
                     std::string title)
    : color_{options.color},
      reasoning_{options.reasoning},
      verbose_{options.level == verbosity::verbose},
      folds_{options.status && options.level == verbosity::normal &&
             !place.empty()},
      opened_{options.since},
      place_{std::move(place)},
      title_{std::move(title)},
      traces_{traces_of(options, folds_, place_.empty())},
      thoughts_{options.color} {}

void task_view::seen(time_point now) {
  first_ = first_.value_or(now);
  since_ = since_.value_or(now);
  doing_.seen(now - *since_);
}

void task_view::begin_again(time_point now, std::string title) {
  since_ = now;
  doing_.seen({});
  title_ = std::move(title);
  sign_ = "↻";
}

/// Each line behind its place.
std::string task_view::marked(std::string_view lines) const {
  if (alone()) return std::string{lines};
  std::string out;
  for_each_line(lines, [&](std::string_view line) {
    out.append(place_).append(" ").append(line).append("\n");
  });
  return out;
}

task_view::said task_view::on(const event& x, std::size_t columns) {
  // What was to happen soon then is over, or will be told.
  const bool of_then = std::holds_alternative<events::retry>(x.body) ||
                       std::holds_alternative<events::status>(x.body);
  if (!of_then || x.at >= opened_) doing_.on(x);
  const auto used = alone() ? 0 : columns_of(place_) + 1;
  traces_.set_columns(columns > used ? columns - used : columns);
  const auto* thought = std::get_if<events::llm_reasoning>(&x.body);
  if (thought)
    // Who wants to read what it thinks wants it to stay.
    return {reasoning_ ? marked(thoughts_.on(thought->content)) : "", {}};
  said out{marked(thoughts_.end()), {}};
  if (std::holds_alternative<events::llm_token>(x.body)) return out;
  // Of one of several this is said once, with its title.
  const bool begins = std::holds_alternative<events::run_started>(x.body);
  const bool ends = std::holds_alternative<events::run_finished>(x.body) ||
                    std::holds_alternative<events::failure>(x.body);
  if (begins && !alone() && !verbose_) return out;
  auto lines = ends && !alone() ? traces_.repeated() : traces_.on(x);
  if (const auto* end = std::get_if<events::tool_result>(&x.body))
    count(*end, lines);
  if (const auto* step = std::get_if<events::usage>(&x.body))
    last_output_ = step->tokens.estimated ? 0 : step->tokens.output_tokens;
  if (const auto* answer = std::get_if<events::final_answer>(&x.body))
    cut_ = answer->truncated;
  // Where it was decided elsewhere that stands below the question.
  const auto* decided = std::get_if<events::approval_resolved>(&x.body);
  out.traces = decided && decided->by == by_user ? marked(lines)
                                                 : keep(std::move(lines));
  return out;
}

void task_view::count(const events::tool_result& x, const std::string& lines) {
  ++calls_;
  if (x.how == outcome::ok) return;
  ++(x.how == outcome::denied ? denied_ : not_ok_);
  if (!folds_) return;
  for_each_line(lines, [this](std::string_view line) {
    if (bad_.size() < most_bad) bad_.emplace_back(line);
  });
}

std::string task_view::rest() { return keep(traces_.rest()); }

/// Until it ends, where that is what becomes of traces.
std::string task_view::keep(std::string lines) {
  if (!folds_) return marked(lines);
  for_each_line(lines, [this](std::string_view line) {
    kept_.emplace_back(line);
    if (kept_.size() <= most_kept) return;
    kept_.pop_front();
    ++dropped_;
  });
  return {};
}

std::string task_view::begin_line(std::size_t columns) const {
  const auto head = place_ + " " + sign_ + " ";
  const auto used = columns_of(head) + 1;
  const auto room = columns > 0 ? columns : file_columns;
  return head + fit(title_, room > used ? room - used : 1) + "\n";
}

std::size_t task_view::wanted_rows() const noexcept {
  return alone() ? most_kept : 1 + kept_.size();
}

std::string task_view::rows(time_point now, std::size_t columns,
                            std::size_t most) const {
  constexpr std::size_t between = 2;
  const auto elapsed = now - since_.value_or(now);
  if (alone()) return doing_.lines(elapsed, columns, most) + "\n";
  const auto head = place_ + " " + sign_ + " ";
  const auto used = columns_of(head) + between;
  const auto room = columns > used ? columns - used : 1;
  // Its title has half of the line, and what the other half does not need. What
  // a tool is about is read while it works; the title stays.
  const auto titled =
      std::min(columns_of(title_), room / (doing_.busy() ? 4 : 2));
  const auto doing = doing_.line(elapsed, room - titled);
  const auto title = fit(title_, room - std::min(room, columns_of(doing)));
  auto out = fit(head + title + "  " + doing, columns) + "\n";
  const std::string indent(columns_of(place_) + 1, ' ');
  const auto shown = std::min(most - 1, kept_.size());
  for (auto i = kept_.size() - shown; i < kept_.size(); ++i)
    out += dim(fit(indent + kept_[i], columns), color_) + "\n";
  return out;
}

std::string task_view::end(bool well) {
  auto out = marked(thoughts_.end());
  out += keep(traces_.repeated());
  const auto kept = std::exchange(kept_, {});
  const auto bad = std::exchange(bad_, {});
  if (!folds_) return out;
  std::string lines;
  if (well) {
    for (const auto& line : bad) lines += line + "\n";
    return out + marked(lines);
  }
  if (dropped_ > 0) lines = "… " + counted(dropped_, "line") + " before\n";
  for (const auto& line : kept) lines += line + "\n";
  calls_ = 0;  // they are told
  return out + marked(lines);
}

std::string task_view::folded() const {
  std::string out;
  if (folds_ && calls_ > 0) {
    out = ", " + counted(calls_, "call");
    if (denied_ > 0) out += ", " + std::to_string(denied_) + " denied";
    if (not_ok_ > 0) out += ", " + std::to_string(not_ok_) + " failed";
  }
  return out;
}

std::string task_view::cut_text() const {
  return cut_ ? ", " + cut_answer_text(last_output_) : std::string{};
}

namespace {

/// Of a title so much stays, whatever there is to say behind it.
constexpr std::size_t least_title = 20;

/// What stands behind a title, without the times where there is little room,
/// then without all but what stands for a reason.
std::string behind_title(const task_end& x, const std::string& folded,
                         int left_out) {
  std::string inside;
  if (x.took_ms && left_out < 2) inside = short_duration(*x.took_ms);
  if (left_out < 1) inside += x.waited;
  if (left_out < 3) inside += folded;
  inside += x.cut;
  if (inside.starts_with(", ")) inside.erase(0, 2);
  return (x.took_ms && !inside.empty() ? " (" + inside + ")" : std::string{}) +
         (left_out < 3 ? x.notes : std::string{}) + x.as;
}

}  // namespace

std::string end_line(const task_end& x, const std::string& place,
                     const std::string& folded, std::size_t columns,
                     bool color) {
  const auto room = columns > 0 ? columns : file_columns;
  const auto head = place + " ";
  const auto wanted = std::min(columns_of(x.title), least_title);
  const auto used = [&](const std::string& end) {
    return columns_of(head) + 3 + columns_of(end);
  };
  auto end = behind_title(x, folded, 0);
  for (int i = 1; i <= 3 && used(end) + wanted > room; ++i)
    end = behind_title(x, folded, i);
  const auto* sign = x.sign ? x.sign : x.well ? "✓" : "✗";
  auto out = head + painted(sign, x.well ? "32" : "31", color) + " " +
             fit(x.title, room > used(end) ? room - used(end) : 1) + end;
  if (!x.why.empty())
    out += (x.beside ? ": " : "\n" + std::string(columns_of(head) + 2, ' ')) +
           x.why;
  return out + "\n";
}

}  // namespace riffle::cli
