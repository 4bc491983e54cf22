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
void cancel_call(call c);
void call_output(call c);
void start_plan(call c);

/// Adds what a run that has ended answered, or why it failed, by its log.
void add_end(const call& c, const storage::run_record& run, json& out);

/// The same over plans, which are runs with an id of their own.
void show_plan(call c);

}  // namespace riffle::http
