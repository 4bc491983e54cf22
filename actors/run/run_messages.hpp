// SPDX-License-Identifier: MIT
#pragma once

// What the actors of a process say to each other beside the vocabulary of
// messages/. They stay in one process, so they may hold pointers.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <caf/actor_control_block.hpp>
#include <caf/allowed_unsafe_message_type.hpp>

#include "actors/core/dispatch_queue.hpp"
#include "actors/core/progress_merge.hpp"
#include "actors/core/step_effects.hpp"
#include "actors/process/registry_messages.hpp"
#include "actors/run/run_spec.hpp"
#include "actors/run/subscriber.hpp"
#include "actors/tools/proposal_messages.hpp"
#include "messages/call.hpp"
#include "messages/event.hpp"
#include "messages/turn.hpp"
#include "messages/work.hpp"
#include "runtime/model/transport.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle {

// -- transport thread -> stream consumer --------------------------------------

struct model_bytes {
  std::string bytes;
};

struct model_end {
  model::transport_end end;
};

/// The request is not sent yet; `sent`: it is now.
struct model_held {
  bool sent = false;
  std::optional<duration> next;  ///< until it may be, if that is known
};

/// publisher -> stream consumer: what came of these bytes is committed.
struct credit {
  std::uint64_t bytes = 0;
};

/// orchestrator -> stream consumer: end the turn.
struct stop_asking {};

/// parser -> stream consumer: end the turn, it makes no sense.
struct broken_turn {
  std::optional<error> why;  ///< nothing: it ended for its length
};

// -- the turn, passed down: consumer -> parser -> dispatcher -> orchestrator --

struct call_fragments {
  std::vector<call_fragment> fragments;
  std::uint64_t said = 0;  ///< bytes of the turn beside fragments so far
  /// Credit that goes back to the sender when they are read; 0: none.
  std::size_t bytes = 0;
  caf::strong_actor_ptr consumer = nullptr;
};

struct turn_over {
  core::turn_summary turn;
};

/// parser -> dispatcher, in the model's order.
struct parsed_calls {
  std::vector<tool_call> calls;
};

/// parser -> dispatcher: text came behind what was taken for the whole call.
struct malformed_call {
  call_id id;
  error why;
};

// -- everything that becomes an event: -> progress muxer -> publisher ---------

/// Text of the model; `bytes`: credit to give back once it is committed.
struct turn_text {
  std::uint32_t step = 0;
  piece_list pieces;
  std::uint64_t bytes = 0;
  caf::strong_actor_ptr consumer;  ///< gets the credit
  bool whole = false;              ///< no more text follows in this turn
};

/// publisher -> dispatcher: the intent is durable, the call may act.
struct intent_committed {
  call_id id;
  std::uint32_t attempt = 0;
};

/// publisher -> orchestrator: the settlement is durable.
struct settlement_committed {
  storage::call_record call;
  std::string answer;                            ///< of an ok `complete`
  std::vector<storage::file_record> files = {};  ///< what the model is shown
};

/// publisher -> orchestrator: all settlements of a drained step are durable;
/// or, of a plan, the announcement of a step.
struct drain_committed {};

/// publisher -> orchestrator: the run's last event is durable.
struct end_committed {};

/// What the publisher says to whom once a record is durable.
using commit_notice =
    std::variant<std::monostate, intent_committed, settlement_committed,
                 drain_committed, end_committed, request_committed>;

/// Events and state that belong together: one commit.
struct run_entry {
  std::vector<events::body> events;
  std::vector<storage::state_change> changes;
  commit_notice notice;
};

/// dispatcher -> muxer: a call begins, or begins again.
struct call_begun {
  call_id id;
  std::uint32_t attempt = 0;
  run_entry entry;
};

/// dispatcher -> muxer: a call is settled.
struct call_settled {
  call_id id;
  std::uint32_t attempt = 0;
  std::optional<std::uint64_t> last_progress;
  run_entry entry;
};

/// muxer -> muxer, later: do not wait for a lost report any longer.
struct give_up_waiting {
  call_id id;
};

// -- calls: orchestrator, dispatcher, tracker, pools, workers -----------------

struct gate_opened {
  bool safe = false;
};

struct drain_request {
  core::drain_reason why = core::drain_reason::cancelled;
};

struct step_forgotten {};

/// orchestrator -> dispatcher, once, before anything else of a recovery.
struct restored_calls {
  std::vector<core::restored_call> open;
  std::vector<core::finished_read> finished;
  std::uint32_t calls_begun = 0;  ///< of the run, control tools left out
  std::map<call_id, std::vector<storage::attempt_record>> attempts;
};

/// dispatcher -> orchestrator: a control tool's call.
struct control_request {
  tool_call call;
  std::uint32_t attempt = 1;
};

/// orchestrator -> dispatcher: what a control tool's call came to.
struct control_done {
  call_id id;
  std::uint32_t attempt = 0;
  call_result result;
  std::string answer;  ///< of an ok `complete`
  run_entry more;      ///< goes out with the settlement
};

/// a look's thread -> dispatcher.
struct call_judged {
  call_id id;
  core::judged_call how;
};

/// muxer -> dispatcher: a sign of life.
struct work_progressed {
  call_id id;
  std::uint32_t attempt = 0;
};

/// registry -> pool: end all work of a run whose actors failed.
struct abandon_run {
  run_id run;
};

/// blocking executor thread -> registry -> dispatcher: this attempt acts no
/// more. Of those that were settled, or that outlived their dispatcher.
struct work_returned {
  run_id run;
  call_id id;
  std::uint32_t attempt = 0;
};

// -- blocking executor thread -> worker ---------------------------------------

/// What the worker says of it: it has ended, or what ran it broke; `died`: the
/// tool threw, and the worker goes with it.
struct blocking_done {
  std::variant<work::done, work::lost> how;
  bool died = false;
};

// -- publisher ----------------------------------------------------------------

/// journal -> publisher.
struct commit_done {
  std::optional<error> failure;
};

struct flush_due {};

/// publisher's own timer: a status has stood for a moment.
struct status_due {};

/// anyone -> registry -> publisher: the subscriber has everything up to its
/// position and wants what follows.
struct attach_subscriber {
  run_id run;
  subscriber_ptr who;
};

/// A timer of the actor itself.
struct tick {};

/// pool's own: a place whose worker crashed may have a new one.
struct place_rested {};

/// orchestrator's own: the pause before the model is asked again is over.
struct pause_over {};

}  // namespace riffle

#define RIFFLE_LOCAL(T) CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::T)
RIFFLE_LOCAL(model_bytes)
RIFFLE_LOCAL(model_end)
RIFFLE_LOCAL(model_held)
RIFFLE_LOCAL(credit)
RIFFLE_LOCAL(stop_asking)
RIFFLE_LOCAL(broken_turn)
RIFFLE_LOCAL(call_fragments)
RIFFLE_LOCAL(turn_over)
RIFFLE_LOCAL(parsed_calls)
RIFFLE_LOCAL(malformed_call)
RIFFLE_LOCAL(turn_text)
RIFFLE_LOCAL(intent_committed)
RIFFLE_LOCAL(settlement_committed)
RIFFLE_LOCAL(drain_committed)
RIFFLE_LOCAL(end_committed)
RIFFLE_LOCAL(run_entry)
RIFFLE_LOCAL(call_begun)
RIFFLE_LOCAL(call_settled)
RIFFLE_LOCAL(give_up_waiting)
RIFFLE_LOCAL(gate_opened)
RIFFLE_LOCAL(drain_request)
RIFFLE_LOCAL(step_forgotten)
RIFFLE_LOCAL(restored_calls)
RIFFLE_LOCAL(control_request)
RIFFLE_LOCAL(control_done)
RIFFLE_LOCAL(call_judged)
RIFFLE_LOCAL(place_rested)
RIFFLE_LOCAL(work_progressed)
RIFFLE_LOCAL(abandon_run)
RIFFLE_LOCAL(work_returned)
RIFFLE_LOCAL(blocking_done)
RIFFLE_LOCAL(commit_done)
RIFFLE_LOCAL(flush_due)
RIFFLE_LOCAL(status_due)
RIFFLE_LOCAL(attach_subscriber)
RIFFLE_LOCAL(tick)
RIFFLE_LOCAL(pause_over)
