// SPDX-License-Identifier: MIT
#include "runtime/cli/view/volley_output.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "messages/event_line.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/diff_lines.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/run_output.hpp"

namespace riffle::cli {

namespace {

std::vector<std::string> titles_of(const volley& x) {
  std::vector<std::string> out;
  for (const auto& task : x.tasks()) out.push_back(task.task);
  return out;
}

bool is_text(std::string_view line) {
  const auto head = line.substr(0, line.find(R"(,"data":)"));
  return head.find(R"("event_type":"llm_)") != std::string_view::npos;
}

}  // namespace

volley_output::volley_output(const common_options& options, show_options show,
                             const volley& of, fd_writer& out, fd_writer& err)
    : work_output{std::make_unique<volley_view>(
                      view_of(options, show, out, err), titles_of(of),
                      system_wall_time()),
                  out, err},
      options_{options},
      show_{show},
      id_{of.id()},
      view_{static_cast<volley_view&>(view())} {
  tasks_.resize(of.tasks().size());
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    auto& told = tasks_[i].told;
    told.task = of.tasks()[i].task;
    told.session = of.tasks()[i].session;
    told.agent = of.tasks()[i].agent;
  }
  if (options_.level != verbosity::quiet)
    interject("[VOLLEY] " + id_ + ", " + std::to_string(tasks_.size()) +
              (tasks_.size() == 1 ? " task\n" : " tasks\n"));
}

std::optional<std::size_t> volley_output::task_of(const proposal_id& id) const {
  const auto found = asked_.find(id);
  if (found == asked_.end()) return std::nullopt;
  return found->second;
}

void volley_output::on(const volley_update& x, time_point now) {
  if (x.run) {
    auto& task = tasks_[x.task];
    if (!task.runs.empty()) task.told.report.begin_next();
    write(view_.begun(x.task, !task.runs.empty(), now, size()));
    task.runs.push_back(x.run->run);
  }
  if (x.events) on_lines(x.task, x.events->lines());
  if (x.result) on_over(*x.result, now);
}

void volley_output::on_lines(std::size_t task, std::string_view lines) {
  if (options_.output == output_kind::jsonl) out_.write(lines);
  for_each_line(lines, [&](std::string_view line) { on_line(task, line); });
}

void volley_output::on_line(std::size_t task, std::string_view line) {
  if (is_text(line) && !view_.wants_text()) return;
  auto x = parse_line(line);
  if (!x) return interject("riffle: " + x.error().message + "\n");
  auto& report = tasks_[task].told.report;
  if (const auto* end = std::get_if<events::tool_result>(&x->body);
      end && show_.tool_trace)
    interject(tool_trace(x->run, *end, report.title_of(end->id)));
  report.on(*x);
  tasks_[task].stats.on(*x);
  complete(*x);
  announce(*x);
  write(view_.on(task, *x, size()));
  if (const auto* done = std::get_if<events::approval_resolved>(&x->body))
    asked_.erase(done->proposal);
  if (auto* asked = std::get_if<events::approval_required>(&x->body)) {
    asked_[asked->proposal] = task;
    asked->title = view_.place(task) + " " + asked->title;
  }
  tell(*x);
}

void volley_output::on_old(std::size_t task, const run_id& run,
                           std::string_view lines) {
  auto& x = tasks_[task];
  auto& at = x.old.try_emplace(run).first->second;
  for_each_line(lines, [&](std::string_view line) {
    if (is_text(line)) return;
    if (const auto e = parse_line(line)) {
      at.on(*e);
      x.stats.on(*e);
    }
  });
}

/// Those before the first that was shown; without such a one the last of them
/// is the task's.
void volley_output::count_old(task_state& x) {
  auto& report = x.told.report;
  const auto& runs = x.told.result.runs;
  run_report before;
  for (const auto& run : runs) {
    const auto found = x.old.find(run);
    if (found == x.old.end()) continue;
    auto one = std::move(found->second);
    one.add_earlier(before);
    before = std::move(one);
  }
  if (x.runs.empty())
    report = std::move(before);
  else
    report.add_earlier(before);
  x.old.clear();
}

void volley_output::on_over(const task_result& x, time_point now) {
  auto& task = tasks_[x.task];
  task.told.result = x;
  count_old(task);
  task.over = true;
  const bool ended =
      x.status == task_status::completed || x.status == task_status::failed;
  ++(ended ? ended_ : cancelled_);
  write(view_.over(x, now, size()));
  tell_without_run(task.told);
  tell_ended(x.task);
}

/// Lines of events say nothing of a task that has none.
void volley_output::tell_without_run(const told_result& x) {
  if (options_.output != output_kind::jsonl || !x.result.runs.empty()) return;
  const bool refused = x.result.failure.has_value();
  if (!refused && options_.level == verbosity::quiet) return;
  auto text = result_text(x, view_.place(x.result.task), {});
  text.pop_back();  // of the blank line behind it
  interject(text);
}

/// In task order, as far as there is no gap. `just`: what ended by now, whose
/// line stands last.
void volley_output::tell_ended(std::size_t just) {
  if (options_.output != output_kind::text) return;
  bool below = view_.stays_on_screen();
  for (; next_told_ < tasks_.size() && tasks_[next_told_].over; ++next_told_) {
    const auto& told = tasks_[next_told_].told;
    const bool went_well = told.result.status == task_status::completed;
    // What did not go well has no answer, and the line above says it, unless
    // it ended before anybody watched.
    const bool is_old = tasks_[next_told_].runs.empty() && told.result.run;
    if (!went_well && !is_old && view_.stays_on_screen()) continue;
    const bool headed = below && next_told_ == just && !is_old;
    below = false;
    const auto text =
        result_text(told, headed ? std::string{} : view_.place(next_told_),
                    view_.whole_answer(told.report.answer(), columns()));
    const bool complains =
        options_.level == verbosity::quiet && !went_well;  // said nowhere else
    write(complains ? view_.interject(text) : view_.answer(text));
  }
}

void volley_output::finish() {
  write(view_.hide_status());
  if (options_.output == output_kind::json) {
    std::vector<told_result> all;
    for (const auto& x : tasks_) all.push_back(x.told);  // `status` reads them
    out_.write(results_json(all, id_) + "\n");
  }
  if (tells_sum()) {
    const auto line = sum_text(sum());
    interject(wrap_lines(use_color(options_, err_)
                             ? "\x1b[2m" + line + "\x1b[0m\n"
                             : line + "\n",
                         err_.columns()));
  }
  if (!show_.stats) return;
  run_stats all;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].told.result.attempts == 0) continue;
    auto& stats = tasks_[i].stats;
    stats.run_again(tasks_[i].told.result.attempts - 1);
    interject(view_.place(i) + "\n" + stats.to_text());
    all.add(stats);
  }
  if (tasks_.size() > 1) interject(all.to_text("all tasks"));
}

volley_sum volley_output::sum() const {
  volley_sum out;
  for (const auto& x : tasks_) {
    switch (x.told.result.status) {
      case task_status::completed: ++out.done; break;
      case task_status::failed: ++out.failed; break;
      case task_status::cancelled: ++out.stopped; break;
      case task_status::not_run: ++out.not_run; break;
    }
    add(out.usage, x.told.report.usage());
  }
  out.took_ms = view_.watched_ms(std::chrono::steady_clock::now());
  return out;
}

std::optional<error> volley_output::why_none_began() const {
  for (const auto& x : tasks_)
    if (!x.told.result.runs.empty() || !x.told.result.failure) return {};
  return tasks_.front().told.result.failure;
}

int volley_output::status(std::uint32_t unanswered) const {
  std::vector<exit_status> all;
  for (const auto& x : tasks_) all.push_back(status_of(x.told));
  if (unanswered > 0) all.push_back(unasked);
  return status_of(all);
}

}  // namespace riffle::cli
