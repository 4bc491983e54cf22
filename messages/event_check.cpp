// SPDX-License-Identifier: MIT
#include "messages/event_check.hpp"

#include <istream>
#include <utility>

#include "messages/event_line.hpp"

namespace riffle {

std::string render(const violation& x) {
  std::string result = "line " + std::to_string(x.line);
  if (x.seq != 0) result += ", seq " + std::to_string(x.seq);
  return result + ": promise " + std::to_string(x.promise) + ": " + x.text;
}

event_checker::event_checker(event_check_options options) : options_{options} {}

std::optional<violation> event_checker::on_line(std::string_view line) {
  if (const auto x = parse_line(line)) {
    return on_event(*x);
  } else {
    ++line_;
    run_.skip_one();
    return violation{line_, 0, 1, "not an event: " + x.error().message};
  }
}

std::optional<violation> event_checker::on_event(const event& x) {
  ++line_;
  ++events_;
  if (auto found = check(x))
    return violation{line_, x.seq, found->promise, std::move(found->text)};
  return {};
}

run_checker::finding event_checker::check(const event& x) {
  auto earlier = begin_within_plan(x);
  const bool within = plan_ && x.run == plan_->run();
  if (!earlier && !within) earlier = begin_run(x);
  auto reused = check_id(x);
  auto found = checker_of(x).on_event(x);
  if (within && plan_->finished()) {
    if (!found && !run_.finished())
      found = broken_promise{
          4, "plan " + x.run.value + " ends before run " + run_.run().value};
    run_ = *std::exchange(plan_, {});
  }
  return earlier ? earlier : found ? found : reused;
}

run_checker& event_checker::checker_of(const event& x) {
  return plan_ && x.run == plan_->run() ? *plan_ : run_;
}

/// A run that begins while a plan is open is one of its steps'.
run_checker::finding event_checker::begin_within_plan(const event& x) {
  const bool begins = run_.is_plan() && !run_.finished() && !plan_ &&
                      x.run != run_.run() && !runs_.contains(x.run.value) &&
                      std::holds_alternative<events::run_started>(x.body);
  if (!begins) return {};
  plan_ = std::exchange(run_, {});
  runs_.emplace(x.run.value, runs_.size());
  return {};
}

// The first event of all begins a run, and so does one of a new run after a
// run_finished. A run that begins before that cuts off the one before.
run_checker::finding event_checker::begin_run(const event& x) {
  const bool is_new = !runs_.contains(x.run.value);
  if (runs_.empty()) {
    // Lines that could not be read may stand before the first event.
  } else if (run_.finished()) {
    if (!is_new && x.run != run_.run())
      return broken_promise{
          4, "run " + x.run.value + " goes on after its run_finished"};
    if (!is_new) return {};
    run_ = {};
  } else if (is_new && (std::holds_alternative<events::run_started>(x.body) ||
                        std::holds_alternative<events::plan_started>(x.body))) {
    const auto before = std::exchange(run_, {});
    runs_.emplace(x.run.value, runs_.size());
    return broken_promise{
        4, before.is_plan()
               ? "plan " + before.run().value + " has no plan_finished"
               : "run " + before.run().value + " has no run_finished"};
  } else {
    return {};
  }
  runs_.emplace(x.run.value, runs_.size());
  return {};
}

run_checker::finding event_checker::check_id(const event& x) {
  const auto* call = std::get_if<events::tool_call>(&x.body);
  if (!call) return {};
  const auto [known, is_new] = calls_.emplace(call->id.value, runs_.size());
  if (is_new || known->second == runs_.size()) return {};
  return broken_promise{
      2, "call " + call->id.value + " has the id of a call of an earlier run"};
}

std::optional<violation> event_checker::finish() {
  if (options_.allow_unfinished) return {};
  if (plan_)
    return violation{line_, plan_->last_seq(), 4,
                     "the log ends before plan_finished"};
  if (run_.finished()) return {};
  if (runs_.empty()) return violation{line_, 0, 4, "the log has no event"};
  return violation{line_, run_.last_seq(), 4,
                   run_.is_plan() ? "the log ends before plan_finished"
                                  : "the log ends before run_finished"};
}

check_report check_events(std::istream& log, event_check_options options) {
  check_report report;
  const auto keep = [&](std::optional<violation> x) {
    if (!x) return;
    ++report.broken;
    if (report.violations.size() < check_report::max_violations)
      report.violations.push_back(std::move(*x));
  };
  event_checker checker{options};
  for (std::string line; std::getline(log, line);) keep(checker.on_line(line));
  keep(checker.finish());
  report.runs = checker.runs();
  report.events = checker.events();
  return report;
}

}  // namespace riffle
