// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/api/plans.hpp"

namespace riffle {

namespace {

/// How long one log is waited for before the other is looked at, and before a
/// run that has not begun is looked for again.
constexpr auto slice = std::chrono::milliseconds{20};

bool is_last_line(std::string_view lines) {
  if (lines.ends_with('\n')) lines.remove_suffix(1);
  const auto before = lines.rfind('\n');
  if (before != lines.npos) lines.remove_prefix(before + 1);
  return event_view{0, lines}.type() == "run_finished";
}

std::string_view first_type(const event_batch& x) {
  return event_view{0, x.lines().substr(0, x.lines().find('\n'))}.type();
}

/// What waits until the log of the step's run was read to its end.
bool follows_run(std::string_view type) {
  return type == "plan_step_finished" || type == "plan_step_started" ||
         type == "plan_finished" || type == "retry";
}

}  // namespace

plan_events::plan_events(run plan)
    : plan_{std::move(plan)}, plan_log_{plan_.events()} {}

bool plan_events::ended() const {
  return waiting_.empty() && !step_ && plan_log_.ended();
}

std::optional<event_batch> plan_events::next(duration limit) {
  using clock = std::chrono::steady_clock;
  const auto deadline =
      clock::now() + std::min<duration>(limit, std::chrono::hours{24 * 365});
  for (;;) {
    const auto left = std::max<duration>(deadline - clock::now(), {});
    const auto pause = std::min<duration>(left, slice);
    if (step_)
      if (auto found = from_step(pause)) return found;
    if (waiting_.empty() && !plan_log_.ended())
      if (const auto batch = plan_log_.next(step_ ? duration{} : pause))
        take(*batch);
    if (auto found = from_plan()) return found;
    if (ended() || clock::now() >= deadline) return std::nullopt;
  }
}

/// In pieces where the log of a run may have to stand between two lines.
void plan_events::take(const event_batch& batch) {
  const auto lines = batch.lines();
  if (lines.find(R"("event_type":"plan_step_)") == lines.npos) {
    waiting_.push_back(batch);
    return;
  }
  batch.for_each([&](const event_view& x) {
    waiting_.push_back(batch.piece(
        {x.seq(), x.seq(),
         std::make_shared<const std::string>(std::string{x.line()} + "\n")}));
  });
}

std::optional<event_batch> plan_events::from_plan() {
  if (waiting_.empty()) {
    // A log without an end: whatever the step's run says comes no more.
    if (step_ && plan_log_.ended()) step_->is_over = true;
    return std::nullopt;
  }
  const auto type = first_type(waiting_.front());
  if (step_ && follows_run(type)) {
    step_->is_over = true;
    return std::nullopt;
  }
  auto out = std::move(waiting_.front());
  waiting_.pop_front();
  if (type != "plan_step_started") return out;
  const auto x =
      event_view{out.first_seq(), out.lines().substr(0, out.lines().find('\n'))}
          .parse();
  if (!x) return out;
  const auto& begun = std::get<events::plan_step_started>(x->body);
  if (!begun.run.empty()) step_ = step_log{begun.run, 0, {}, false, false};
  return out;
}

std::optional<event_batch> plan_events::from_step(duration limit) {
  auto& x = *step_;
  if (!x.log) {
    x.last_look = x.is_over;
    x.log = plan_.events_of(x.run, x.last_seq);
  }
  if (auto batch = x.log->next(limit)) {
    x.last_seq = batch->last_seq();
    if (is_last_line(batch->lines())) step_.reset();
    return batch;
  }
  if (!x.log->ended()) return std::nullopt;
  // It has not begun, or nobody works on it for now. What it says is in the
  // journal before the plan says that its step has ended.
  x.log.reset();
  if (x.last_look)
    step_.reset();
  else if (!plan_log_.ended())
    if (const auto batch = plan_log_.next(limit)) take(*batch);
  return std::nullopt;
}

}  // namespace riffle
