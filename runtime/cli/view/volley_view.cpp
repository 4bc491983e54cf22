// SPDX-License-Identifier: MIT
#include "runtime/cli/view/volley_view.hpp"

#include <utility>

#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/people_text.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t longest_title = 200;
/// What to do about an error stands at its end.
constexpr std::size_t longest_message = 2000;
constexpr std::size_t most_reasons = 100;  ///< that are remembered

}  // namespace

volley_view::volley_view(const view_options& options,
                         std::vector<std::string> titles, wall_time opened)
    : work_view{options, {.together = true}},
      titles_{std::move(titles)},
      opened_{opened} {
  expect(titles_.size());
  for (auto& x : titles_) x = safe_line(x, longest_title);
}

screen_writes volley_view::begun(std::size_t task, bool again, time_point now,
                                 view_size size) {
  return screen_.lines(begin(task, titles_[task], again, now, size.columns));
}

screen_writes volley_view::on(std::size_t task, const event& x,
                              view_size size) {
  auto* found = working(task);
  if (!found) return {};
  // This may be behind its events, which know when they happened.
  if (x.at > opened_) {
    auto& span = spans_.try_emplace(task, time_span{x.at, x.at}).first->second;
    span.last = x.at;
  }
  const auto said = found->on(x, size.columns);
  return show(said.thoughts + said.traces, size.columns);
}

screen_writes volley_view::over(const task_result& x, time_point now,
                                view_size size) {
  const auto* found = working(x.task);
  task_end end;
  end.well = x.status == task_status::completed;
  if (!found && x.run) {
    ended_before(end.well);
    return {};
  }
  if (x.status == task_status::not_run) end.sign = "·";
  end.title = titles_[x.task];
  if (found) end.took_ms = took(x.task, now - found->begun(now));
  if (x.attempts > 1) end.notes = ", " + std::to_string(x.attempts) + " runs";
  end.why = why_not(x);
  if (x.status == task_status::not_run)
    return show(work_view::end(x.task, end, size.columns), size.columns);
  // Who has stopped them all reads of each that it was that.
  const bool stopped = x.status == task_status::cancelled;
  const auto known = stopped ? reasons_.end() : reasons_.find(end.why);
  if (known != reasons_.end()) {
    end.as = ", as " + place(known->second);
    end.why.clear();
  } else if (!stopped && !end.why.empty() && reasons_.size() < most_reasons) {
    reasons_.emplace(end.why, x.task);
  }
  return show(work_view::end(x.task, end, size.columns), size.columns);
}

std::string volley_view::why_not(const task_result& x) {
  if (x.status == task_status::completed) return {};
  if (x.status == task_status::not_run) return "not run";
  if (!x.failure) return std::string{to_string(x.status)};
  const auto& why = *x.failure;
  return why.code == errc::cancelled ? safe_line(why.message, longest_message)
                                     : error_text(why, longest_message);
}

/// In ms, of all its runs with the pauses between; `seen`: as far as events
/// do not say.
std::uint64_t volley_view::took(std::size_t task, duration seen) const {
  const auto span = spans_.find(task);
  if (span == spans_.end()) return in_ms(seen);
  const auto us = span->second.last.us - span->second.first.us;
  return us > 0 ? static_cast<std::uint64_t>(us) / 1000 : 0;
}

}  // namespace riffle::cli
