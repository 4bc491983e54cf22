// SPDX-License-Identifier: MIT
#include "runtime/cli/view/plan_view.hpp"

#include <utility>
#include <vector>

#include "actors/core/run_status.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/program_output.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/diff_lines.hpp"
#include "runtime/cli/view/people_text.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t longest_id = 64;
constexpr std::size_t longest_in_a_file = 60;  ///< of what a step is to do
constexpr std::size_t longest_in_a_row = 200;
constexpr std::size_t longest_message = 300;
/// What to do about an error stands at its end.
constexpr std::size_t longest_why = 1000;
constexpr std::size_t indent = 8;  ///< of what stands below an end

/// A step's error names the code of its call's where plans have another one.
bool says(const std::string& of_step, const std::string& of_call) {
  return !of_call.empty() &&
         (of_step == of_call || of_step.ends_with(": " + of_call));
}

}  // namespace

plan_view::plan_view(const view_options& options)
    : work_view{options, {}},
      own_{{.level = options.level,
            .color = options.color,
            .progress = !options.status,
            .asks = options.asks,
            .since = options.since}} {}

std::string plan_view::title_of(const events::plan_step_started& x) const {
  const auto& what = x.tool.empty() ? x.instruction : x.tool;
  return safe_line(x.id, longest_id) + ": " +
         safe_line(what,
                   options_.status ? longest_in_a_row : longest_in_a_file) +
         (x.attempt > 1 ? " (attempt " + std::to_string(x.attempt) + ")" : "");
}

screen_writes plan_view::on(const event& x, time_point now, view_size size) {
  seen(now);
  std::string lines;
  if (const auto* plan = std::get_if<events::plan_started>(&x.body)) {
    expect(plan->steps);
    if (options_.level != verbosity::quiet)
      lines = "[PLAN] " + safe_line(plan->plan.value, longest_id) + ", " +
              counted(plan->steps, "step") + "\n";
  } else if (const auto* s = std::get_if<events::plan_step_started>(&x.body)) {
    step_ = s->step - 1;
    title_ = title_of(*s);
    heading_ = core::status_of(*s);
    told_.clear();
    stopped_ = false;
    lines = begin(*step_, title_, s->attempt > 1, now, size.columns);
  } else if (const auto* e = std::get_if<events::plan_step_finished>(&x.body)) {
    lines = end_step(*e, size.columns);
  } else if (const auto* told = std::get_if<events::status>(&x.body);
             told && told->text == heading_) {
    return {};  // its line has said that
  } else if (auto* open = step_ ? working(*step_) : nullptr) {
    if (const auto* result = std::get_if<events::tool_result>(&x.body)) {
      told_ = result->err ? result->err->message : std::string{};
      stopped_ = is_stopped(*result) && !never_began(*result);
    }
    const auto said = open->on(x, size.columns);
    lines = said.thoughts + said.traces;
  } else {
    own_.set_columns(size.columns);
    lines = own_.on(x);
  }
  return show(std::move(lines), size.columns);
}

std::string plan_view::end_step(const events::plan_step_finished& x,
                                std::size_t columns) {
  const auto step = x.step - 1;
  const auto* open = working(step);
  const bool folds = open && open->folds();
  task_end end;
  end.well = !x.err;
  // Without a row above it its title stands there already, and its id will do.
  end.title = folds ? title_ : safe_line(x.id, longest_id);
  end.took_ms = x.duration_ms;
  // A call that failed has a line of its own, which says why.
  const bool failed = !end.well && x.run.empty() &&
                      says(x.err->message, told_) &&
                      told_.size() <= longest_in_a_row;
  const bool told =
      failed || (x.status == events::run_status::cancelled && stopped_);
  if (!end.well && !told) {
    const auto cause = cause_of(*x.err);
    end.why = cause.code == x.err->code ? safe_line(cause.message, longest_why)
                                        : error_text(cause, longest_why);
  }
  end.beside = !folds;
  step_.reset();
  return work_view::end(step, end, columns);
}

std::string plan_view::last_lines(const std::string& output,
                                  const std::string& why) const {
  constexpr std::size_t most = 10;
  const auto text = safe_text(settled_lines(output));
  std::vector<std::string> lines;
  for_each_line(text, [&](std::string_view line) {
    lines.emplace_back(fit(line, longest_message));
  });
  const auto said_twice = [&] {
    return trimmed(lines.back()).empty() || says(why, lines.back());
  };
  while (!lines.empty() && said_twice()) lines.pop_back();
  const auto first = lines.size() > most ? lines.size() - most : 0;
  std::string out;
  for (auto i = first; i < lines.size(); ++i)
    out += std::string(indent, ' ') + lines[i] + "\n";
  return out;
}

}  // namespace riffle::cli
