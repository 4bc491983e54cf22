// SPDX-License-Identifier: MIT
#pragma once

// Messages of the front door: what is said to the run registry, and what it
// says to the session store.

#include <memory>
#include <optional>
#include <set>

#include <caf/allowed_unsafe_message_type.hpp>

#include "actors/core/run_effects.hpp"
#include "actors/run/run_spec.hpp"
#include "actors/run/subscriber.hpp"
#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle {

struct start_run {
  run_spec_ptr spec;
  subscriber_ptr who;  ///< may be null
  /// It shall end already: it is put on record, and nothing of it begins.
  std::optional<core::end_request> end{};
};

struct resume_run {
  run_spec_ptr spec;
  subscriber_ptr who;
  std::optional<core::end_request> end;  ///< it ends at once, by this
};

/// Who started or resumed a run does not wait for the answer any more: a run
/// that was started ends, one that was resumed is left to others.
struct withdraw_run {
  run_id run;
  subscriber_ptr who;
};

struct run_opened {
  run_id run;
  session_id session;
  std::optional<error> failure;  ///< then nothing was started
};

struct cancel_run {
  run_id run;
  error why;
  bool cancelled = true;  ///< false: the time limit
};

/// Ends one call of a run; passed on to its dispatcher.
struct cancel_call {
  run_id run;
  call_id id;
  std::string by{};  ///< who or what ends it, for the model; may be empty
};

/// A person says something to a run that works; passed on to its orchestrator,
/// see `step_machine::hear`.
struct tell_run {
  run_id run;
  std::string text;
};

struct run_told {
  std::optional<error> refused{};  ///< then its model will not hear it
};

/// cancel_run for the run's own orchestrator.
struct end_run {
  core::end_request request;
};

/// orchestrator -> registry.
struct run_ended {
  run_id run;
};

/// publisher -> registry: the journal refused; the run cannot go on.
struct run_broken {
  run_id run;
  error why;
};

/// registry -> inbox: whether a run of this process has not ended.
struct runs_here {
  bool any = false;
};

/// registry's own: the spec of a run that was put on record without.
struct spec_completed {
  run_id run;
  std::uint64_t number = 0;  ///< of the question
  run_spec_ptr spec{};       ///< null: `failure` is set
  std::optional<error> failure{};
};

/// registry's own: what it wrote of a run that waits for its spec is on record,
/// or cannot be.
struct wait_written {
  run_id run;
  std::uint64_t number = 0;  ///< of the question, as above
  storage::event_block block;
  std::optional<error> failure{};
};

/// registry's own: a run has waited for its spec so long that it is told.
struct wait_due {
  run_id run;
  std::uint64_t number = 0;
};

/// registry's own: ask whether the journal takes a suspended run again.
struct probe_journal {};

/// registry's own: a question about a run was not answered in time.
struct run_deadline {
  run_id run;
  core::run_ticket ticket = 0;
};

/// registry -> session store.
struct open_run_request {
  storage::run_record run;
  std::vector<storage::file_record> files = {};
};

struct adopt_run_request {
  run_id run;
  std::set<call_id> acting;  ///< this process knows that they act, and waits
};

/// registry -> session store: nobody here works on it any more. And its own,
/// later, where the journal refused.
struct disown_request {
  run_id run;
  bool again = false;
};

/// session store -> registry.
struct opened_run {
  std::shared_ptr<storage::run_snapshot> snapshot;  ///< null: `failure` is set
  std::optional<error> failure;
  bool left_here = false;  ///< it failed, and this process owns the run
  std::string said{};      ///< of an adopted run: by its open step
};

/// anyone -> registry: cancel all runs and answer when they have ended.
struct shut_down {};

struct all_ended {};

}  // namespace riffle

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::start_run)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::resume_run)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::run_opened)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::cancel_run)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::cancel_call)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::tell_run)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::run_told)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::end_run)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::run_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::run_broken)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::runs_here)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::spec_completed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::wait_written)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::wait_due)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::probe_journal)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::open_run_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::adopt_run_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::opened_run)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::disown_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::withdraw_run)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::run_deadline)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::shut_down)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::all_ended)
