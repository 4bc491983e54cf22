// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/http/site.hpp"

namespace riffle::http {

void start_run(call c);
void start_session_run(call c);
void list_runs(call c);
void show_run(call c);
void run_events(call c);
void resume_run(call c);
void cancel_run(call c);
void say_to_run(call c);
void cancel_call(call c);
void call_output(call c);
void start_plan(call c);

/// Adds what a run that has ended answered, or why it failed, by its log.
void add_end(const call& c, const storage::run_record& run, json& out);

// plans: runs with an id of their own
void list_plans(call c);
void show_plan(call c);

inline bool is_plan(const run_id& x) noexcept {
  return x.value.starts_with("plan_");
}
/// Where its runs are: those of a plan's steps, else its own.
session_id session_of(const storage::run_record& run);
/// What lists say of a plan. `cut_off`: nobody works on it.
json plan_summary(const storage::run_record& run, bool cut_off);
/// `usage`, and `cost_usd` where that is known.
json totals_json(const token_usage& x);

}  // namespace riffle::http
