// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/watch_plan.hpp"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "messages/event_line.hpp"
#include "runtime/api/plans.hpp"
#include "runtime/cli/commands/asking.hpp"
#include "runtime/cli/commands/unread_limits.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/waiting_log.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/plan_report.hpp"
#include "runtime/cli/view/run_output.hpp"

namespace riffle::cli {

namespace {

/// How often quiet logs are looked at, and the status line drawn.
constexpr auto look = std::chrono::milliseconds{100};

/// One log after the other on the same outputs: each has its own view, and the
/// plan says what stands between them.
class plan_output {
 public:
  plan_output(run_id plan, const common_options& options, show_options show,
              console& io)
      : plan_{std::move(plan)}, options_{options}, show_{show}, io_{io} {
    // What a step says is no answer: only the plan's goes to standard output.
    if (options_.output == output_kind::text)
      options_.output = output_kind::json;
    mine_.emplace(options_, show_, io_.out, io_.err);
    shown_ = &*mine_;
  }

  void listen(std::function<void(const event&)> f) {
    listener_ = std::move(f);
    mine_->listen([this](const event& e) {
      report_.count(e);
      listener_(e);
    });
  }

  void on(const event_batch& batch, time_point now) {
    auto& to = view_of_run(batch.run());
    if (&to != shown_) shown_->hide_status();
    shown_ = &to;
    if (&to == &*mine_) tell_steps(batch);
    to.on_lines(batch.lines(), now);
    if (report_.finished()) to.hide_status();
    if (session_.empty() && step_) session_ = step_->report().session();
  }

  void tick(time_point now) { shown_->tick(now); }
  void interject(const std::string& text) { shown_->interject(text); }
  void cancelling() {
    mine_->cancelling();
    if (step_) step_->cancelling();
  }

  /// After the last event: the answer or the object.
  void finish(bool wants_answer, std::uint32_t unasked) {
    shown_->hide_status();
    const auto& end = report_.finished();
    if (!end) return;
    if (show_.stats) mine_->interject(report_.stats_text());
    if (options_.output == output_kind::json && !wants_answer)
      io_.out.write(report_.to_json(session_, unasked) + "\n");
    else if (wants_answer && end->answer)
      io_.out.write(io_.out.is_terminal() ? safe_text(*end->answer)
                                          : *end->answer);
    if (wants_answer && end->answer && !end->answer->ends_with('\n'))
      io_.out.write("\n");
    if (end->err && options_.level != verbosity::quiet)
      io_.complain("plan " + plan_.value + ": " + end->err->message);
  }

  [[nodiscard]] const plan_report& report() const { return report_; }
  [[nodiscard]] std::uint32_t unasked() const {
    return unasked_ + mine_->report().unasked() +
           (step_ ? step_->report().unasked() : 0);
  }

 private:
  run_output& view_of_run(const run_id& run) {
    if (run == plan_) return *mine_;
    if (step_ && run == step_run_) return *step_;
    if (step_) unasked_ += step_->report().unasked();
    shown_->hide_status();
    shown_ = &*mine_;
    step_run_ = run;
    step_.emplace(options_, show_, io_.out, io_.err);
    step_->listen([this](const event& e) {
      report_.count(e);
      if (listener_) listener_(e);
    });
    return *step_;
  }

  void tell_steps(const event_batch& batch) {
    const bool silent = options_.level == verbosity::quiet ||
                        options_.output == output_kind::jsonl;
    batch.for_each([&](const event_view& x) {
      if (!x.type().starts_with("plan_")) return;
      const auto parsed = x.parse();
      const auto line = parsed ? report_.on(*parsed) : std::string{};
      if (!silent && !line.empty()) mine_->interject(line);
    });
  }

  const run_id plan_;
  common_options options_;
  const show_options show_;
  console& io_;
  std::optional<run_output> mine_;  ///< of the plan's own log
  std::optional<run_output> step_;  ///< of the newest step's run
  run_id step_run_;
  run_output* shown_ = nullptr;  ///< the one that wrote last
  plan_report report_;
  std::function<void(const event&)> listener_;
  std::string session_;
  std::uint32_t unasked_ = 0;
};

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
  plan_output output{x.of.id(), options, show, io};
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
  output.finish(options.output == output_kind::text, unasked);
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
