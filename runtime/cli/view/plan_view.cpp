// SPDX-License-Identifier: MIT
#include "runtime/cli/view/plan_view.hpp"

#include <chrono>
#include <iterator>
#include <utility>
#include <vector>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t longest_id = 64;
constexpr std::size_t longest_in_a_file = 60;  ///< of what a step is to do
constexpr std::size_t longest_in_a_row = 200;
constexpr std::size_t longest_message = 300;

}  // namespace

plan_view::plan_view(view_options options)
    : options_{options},
      own_{{options.level, options.color, !options.status, options.asks}},
      screen_{options.status} {}

std::string plan_view::place(std::uint32_t step) const {
  return "[" + std::to_string(step) + "/" + std::to_string(total_) + "]";
}

std::string plan_view::title_of(const events::plan_step_started& x) const {
  const auto& what = x.tool.empty() ? x.instruction : x.tool;
  return safe_line(x.id, longest_id) + ": " +
         safe_line(what,
                   options_.status ? longest_in_a_row : longest_in_a_file) +
         (x.attempt > 1 ? " (attempt " + std::to_string(x.attempt) + ")" : "");
}

screen_writes plan_view::on(const event& x, time_point now, view_size size) {
  if (!began_) began_ = now;
  const bool quiet = options_.level == verbosity::quiet;
  std::string lines;
  if (const auto* plan = std::get_if<events::plan_started>(&x.body)) {
    total_ = plan->steps;
    lines = "[PLAN] " + safe_line(plan->plan.value, longest_id) + ", " +
            counted(total_, "step") + "\n";
  } else if (const auto* s = std::get_if<events::plan_step_started>(&x.body)) {
    lines = begin_step(*s, now, size);
  } else if (const auto* e = std::get_if<events::plan_step_finished>(&x.body)) {
    lines = end_step(*e, size);
  } else if (std::holds_alternative<events::plan_finished>(x.body)) {
    over_ = true;
    return screen_.clear();
  } else {
    own_.set_columns(size.columns);
    return screen_.lines(step_ ? step_->on(x, size.columns) : own_.on(x));
  }
  return quiet ? screen_writes{} : screen_.lines(lines);
}

/// Where it has a row, that says it.
std::string plan_view::begin_step(const events::plan_step_started& x,
                                  time_point now, view_size size) {
  title_ = title_of(x);
  if (step_ && x.attempt > 1)
    step_->begin_again(now, title_);
  else
    step_.emplace(options_, place(x.step), title_, false, now);
  if (cancelling_) step_->cancelling();
  return step_->folds() ? std::string{} : step_->begin_line(size.columns);
}

std::string plan_view::end_step(const events::plan_step_finished& x,
                                view_size size) {
  const bool well = !x.err;
  ++done_;
  if (!well) ++failed_;
  const auto lines = step_ ? step_->end(well) : std::string{};
  const bool folds = step_ && step_->folds();
  const auto end = " (" + short_duration(x.duration_ms) +
                   (step_ ? step_->folded() : std::string{}) + ")";
  step_.reset();
  const auto head = place(x.step) + " ";
  const auto sign =
      painted(well ? "✓" : "✗", well ? "32" : "31", options_.color);
  const auto why =
      well ? std::string{} : safe_line(x.err->message, longest_message);
  // Without a row above it its title stands there already, and its id will do.
  if (!folds)
    return lines + head + sign + " " + safe_line(x.id, longest_id) + end +
           (well ? "" : ": " + why) + "\n";
  const auto used = columns_of(head) + 3 + columns_of(end);
  const auto line = head + sign + " " +
                    fit(title_, size.columns > used ? size.columns - used : 1) +
                    end + "\n";
  if (well) return line;
  return lines + line + std::string(columns_of(head) + 2, ' ') + why + "\n";
}

void plan_view::cancelling() {
  cancelling_ = true;
  if (step_) step_->cancelling();
}

screen_writes plan_view::answer(std::string_view text) {
  auto out = screen_.clear();
  auto more = screen_.text(text);
  out.insert(out.end(), std::move_iterator{more.begin()},
             std::move_iterator{more.end()});
  return out;
}

screen_writes plan_view::tick(time_point now, view_size size) {
  constexpr std::size_t narrowest = 10;
  if (!began_) began_ = now;
  auto out = screen_.lines(step_ ? step_->rest() : own_.rest());
  if (over_ || size.columns < narrowest || !screen_.due(now)) return out;
  auto more = screen_.draw(status(now, size), true, now, size.columns);
  out.insert(out.end(), std::move_iterator{more.begin()},
             std::move_iterator{more.end()});
  return out;
}

std::string plan_view::status(time_point now, view_size size) const {
  const auto columns = size.columns - 1;  // a full line makes some wrap
  std::vector<const task_view*> open;
  if (step_) open.push_back(&*step_);
  std::size_t hidden = 0;
  auto out = rows_of(open, now, columns, status_rows(size) - 1, hidden);
  auto sum = std::to_string(done_) + "/" + std::to_string(total_) + " done";
  if (failed_ > 0) sum += ", " + std::to_string(failed_) + " not well";
  if (cancelling_) sum += ", cancelling";
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                      now - began_.value_or(now))
                      .count();
  sum += " — " + short_duration(static_cast<std::uint64_t>(ms));
  return out + fit(sum, columns);
}

}  // namespace riffle::cli
