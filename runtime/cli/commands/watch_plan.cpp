// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/watch_plan.hpp"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "runtime/api/plans.hpp"
#include "runtime/cli/commands/asking.hpp"
#include "runtime/cli/commands/unread_limits.hpp"
#include "runtime/cli/terminal/waiting_log.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/plan_output.hpp"
#include "runtime/cli/view/run_output.hpp"

namespace riffle::cli {

namespace {

/// How often quiet logs are looked at, and the status line drawn.
constexpr auto look = std::chrono::milliseconds{100};

/// Where nobody can be asked, it is said how to decide.
class waiting_calls {
 public:
  void on(const event& x) {
    if (const auto* asked = std::get_if<events::approval_required>(&x.body)) {
      open_.insert(asked->proposal.value);
      told_ = false;
    }
    if (const auto* done = std::get_if<events::approval_resolved>(&x.body))
      open_.erase(done->proposal.value);
  }

  /// Nothing happens: "" or lines for the person.
  std::string on_quiet() {
    if (open_.empty() || std::exchange(told_, true)) return {};
    return "[APPROVAL] the plan waits for a decision (approve, deny or "
           "edit):\n  riffle proposals approve " +
           *open_.begin() + "\n";
  }

 private:
  std::set<std::string> open_;
  bool told_ = false;
};

int unfinished(const run& plan, const plan_events& logs, console& io) {
  const int status = logs.failure() ? report(*logs.failure(), io) : failed;
  io.complain(
      "the plan does not go on here; finish it with 'riffle sessions "
      "resume " +
      plan.id().value + "'");
  return status;
}

/// What a person can do where nobody knows how far a step came.
constexpr auto look_first =
    "look how far it came; a plan that has ended does not go on: what is left "
    "can be a plan of its own. Another time 'riffle sessions resume ID "
    "--on-error retry' runs such a step again, 'continue' goes on behind it";

void tell_failure(const run& of, const plan_report& told,
                  const common_options& options, console& io) {
  const auto& why = told.finished()->err;
  const bool cancelled =
      told.finished()->status == events::run_status::cancelled;
  const bool quiet = options.level == verbosity::quiet;
  if (!why || (quiet && cancelled)) return;
  io.complain("plan " + of.id().value + ": " + why->message);
  const auto& step = told.failed_step();
  if (!quiet && !cancelled && step && step->err->code == errc::interrupted)
    io.complain(look_first);
}

/// Until the end of the plan; false: it did not settle in time.
bool show_all(plan_events& logs, plan_output& output,
              std::optional<approval_prompt>& prompt, waiting_calls& calls,
              waiting_log& log, const interrupts& signals) {
  patience_clock patience;
  while (!logs.ended()) {
    if (prompt && signals.asked_to_stop()) prompt->leave();
    const bool asks = prompt && prompt->busy() && !signals.asked_to_stop();
    if (asks) prompt->look(look);
    const auto batch = asks && prompt->busy() ? std::nullopt : logs.next(look);
    const auto now = std::chrono::steady_clock::now();
    if (batch) output.on(*batch, now);
    if (!batch && !prompt) output.interject(calls.on_quiet());
    if (signals.asked_to_stop()) output.cancelling();
    if (patience.is_over(signals.asked_to_stop())) return false;
    if (!prompt || !prompt->busy()) {
      output.interject(log.take());
      output.tick(now);
    }
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
  waiting_log log{view_of(options, show, io.out, io.err).status, io.err};
  auto prompt = prompt_for(
      x.keyboard,
      {x.rt, "the plan",
       [handle = x.of](const auto&) { handle.cancel("stopped by the user"); },
       [&output](const std::string& text) { output.interject(text); }},
      options, signals, io);
  waiting_calls calls;
  output.listen([&](const event& e) {
    prompt ? prompt->on(e) : calls.on(e);
    if (prompt) ring_at_question(show, e, io);
  });
  signals.on_stop([handle = x.of](const char* by) {
    handle.cancel(std::string{"cancelled by "} + by);
  });
  plan_events logs{x.of};
  const bool settled = show_all(logs, output, prompt, calls, log, signals);
  signals.on_stop({});
  output.interject(log.take());
  const auto& end = output.report().finished();
  if (!settled || !end) return unfinished(x.of, logs, io);
  const auto unasked = output.unasked() + (prompt ? prompt->unanswered() : 0);
  output.finish(unasked);
  tell_failure(x.of, output.report(), options, io);
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
