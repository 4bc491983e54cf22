// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/watch_plan.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "runtime/api/plans.hpp"
#include "runtime/cli/commands/asking.hpp"
#include "runtime/cli/commands/unread_limits.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/people_text.hpp"
#include "runtime/cli/view/plan_output.hpp"
#include "runtime/cli/view/run_output.hpp"

namespace riffle::cli {

namespace {

int unfinished(const run& plan, const plan_events& logs, console& io) {
  const int status = logs.failure() ? report(*logs.failure(), io) : failed;
  io.complain(
      "the plan does not go on here; finish it with: riffle sessions resume " +
      plan.id().value);
  return status;
}

/// What a person can do where nobody knows how far a step came.
constexpr auto look_first =
    "look how far it came; a plan that has failed does not go on: what is left "
    "can be a plan of its own. Another time 'riffle sessions resume ID "
    "--on-error retry' runs such a step again, 'continue' goes on behind it";

/// And where it was a person who said no.
constexpr auto denied_ends =
    "a step that is denied ends its plan, which does not go on then: 'riffle "
    "plan FILE' begins it anew. Ctrl-C at a question stops it, and it can go "
    "on later";

/// Why a step failed stands above it.
std::string why_failed(const plan_report& told) {
  const auto& why = told.finished()->err->message;
  const auto& step = told.failed_step();
  if (!step) return why;
  const auto head = "step \"" + step->id + "\"";
  return why == head + ": " + step->err->message ? head + " failed" : why;
}

void tell_failure(const watched_run& x, const plan_report& told,
                  const common_options& options, console& io) {
  const auto& of = x.of;
  const auto& why = told.finished()->err;
  const auto plan = "plan " + of.id().value;
  if (!why) return;
  const bool cancelled =
      told.finished()->status == events::run_status::cancelled;
  if (options.level == verbosity::quiet) {
    if (!cancelled) io.complain(plan + ": " + why->message);
  } else if (cancelled) {
    // Where a step was cut its line has said why.
    const bool cut = told.failed_step().has_value();
    const bool said = cut && options.output != output_kind::jsonl &&
                      told.failed_step()->err->message == why->message;
    io.complain((said ? std::string{} : plan + ": " + why->message + "; ") +
                "go on" + (cut ? " with the step that was cut: " : " by: ") +
                "riffle sessions resume " + of.id().value +
                (x.approves_all ? " --approve all" : ""));
  } else {
    io.complain(plan + ": " + why_failed(told));
    const auto& step = told.failed_step();
    if (step && step->err->code == errc::interrupted) io.complain(look_first);
    if (step && step->err->code == errc::approval_denied && x.keyboard)
      io.complain(denied_ends);
  }
}

/// Until the end of the plan; false: it did not settle in time.
bool show_all(plan_events& logs, plan_output& output, watched_work& work,
              const interrupts& signals) {
  settle_clock settling;
  while (!logs.ended()) {
    work.look_once([&](auto limit) {
      const auto batch = logs.next(limit);
      if (batch) output.on(*batch, std::chrono::steady_clock::now());
      return batch.has_value();
    });
    if (settling.is_over(signals.asked_to_stop())) return false;
  }
  return true;
}

}  // namespace

int watch_plan(watched_run x, const common_options& options, show_options show,
               interrupts& signals, room_wait& room, console& io) {
  room.finish_with("riffle sessions resume " + x.of.id().value);
  const unread_limits limits{
      [&] { return signals.asked_to_stop() || room.is_over_time(); }, io};
  show.asks = x.keyboard.has_value();
  plan_output output{x.of.id(), options, show, io.out, io.err};
  output.read_outputs(
      [&x](const call_id& id) { return last_output(x.rt, id); });
  watched_work work{
      output,
      x.keyboard,
      {x.rt, "the plan", "the plan",
       [handle = x.of](const auto&) { handle.cancel(stopped_by_user); },
       x.typing, x.decides},
      options,
      show,
      signals,
      io};
  output.listen([&work](const event& e) { work.on(e); },
                [&work](const event& e) { work.before(e); });
  signals.on_stop(
      [handle = x.of](const char* by) { handle.cancel(stop_reason(by)); });
  plan_events logs{x.of};
  const bool settled = show_all(logs, output, work, signals);
  signals.on_stop({});
  work.show_log();
  const auto& end = output.report().finished();
  if (!settled || !end) return unfinished(x.of, logs, io);
  const auto unasked = output.unasked() + work.unanswered();
  output.finish(unasked);
  tell_failure(x, output.report(), options, io);
  tell_unasked(unasked, "the plan", options, io);
  ring(show, "the plan has ended", io);
  const auto why = end->err ? std::optional{end->err->code} : std::nullopt;
  return status_of(end->status, why, unasked > 0);
}

int watch_any(watched_run x, const common_options& options, show_options show,
              interrupts& signals, room_wait& room, console& io) {
  const bool plan = x.of.id().value.starts_with("plan_");
  return plan ? watch_plan(std::move(x), options, show, signals, room, io)
              : watch(std::move(x), options, show, signals, room, io);
}

}  // namespace riffle::cli
