// SPDX-License-Identifier: MIT
#pragma once

// The system on one page: every actor and what it understands. A run has one
// of each from `stream_consumer` (one per turn) to `orchestrator`; tools have
// a pool with workers; a volley has one scheduler; a process has one registry
// and one session store. What may cross nodes stands in tools/wire.hpp. A
// process of a cluster also has a gate, which hears what other programs say
// and so takes anything and drops what it does not know: it, the hosts of
// calls of others and their workers are in cluster/cluster_gate.hpp,
// call_host.hpp and remote_worker.hpp, their messages in cluster/wire.hpp.

#include <caf/all.hpp>

#include "actors/process/run_work.hpp"
#include "actors/run/plan_messages.hpp"
#include "actors/run/run_messages.hpp"
#include "actors/tools/wire.hpp"

namespace riffle {

using caf::reacts_to;
using caf::replies_to;

struct run_peers;           // spawner -> the actors of a run: who is who
struct more_calls {};       // dispatcher's own: take in more of a turn
struct published_progress;  // muxer -> publisher: a report and whom to ack
struct pool_replaced;       // registry -> dispatcher: another pool serves it
struct close_pool;          // gate -> pool of a node's tool
struct pool_of_node;        // gate -> registry -> dispatcher: it joined or left
struct orphan_due;          // dispatcher's own timer
struct adoption_done;       // session store's own
struct calls_checked;       // a look's thread -> parser
struct check_overdue;       // parser's own timer
struct revive_pool;         // registry's own timer
struct cause_made;          // command inbox's own
struct watch_proposal;      // tracker -> inbox: tell me what is decided
struct begin_volley;        // service -> volley scheduler
struct task_ended;          // service -> volley scheduler: the end of a run
struct cancel_volley;       // service -> volley scheduler
struct capacity_known;      // service -> volley scheduler
struct volley_pause_over;   // volley scheduler's own timer

/// A worker that runs one call at a time on the blocking executor here; dies
/// with its tool's exception.
using thread_worker_actor = tool_worker_actor::extend<
    reacts_to<blocking_done>,  // the blocking executor is through
    reacts_to<tick>>;          // own timer: a report may leave

/// Supervisor of a tool's workers; queue of what waits for one.
using tool_pool_actor = work_supervisor::extend<
    reacts_to<work::assignment, work_listeners>,  // run it as soon as a worker
                                                  // is free
    reacts_to<work::stop>,                        // stop it, queued or running
    reacts_to<place_rested>,  // restart a worker after its back-off
    reacts_to<abandon_run>,   // end all work of a run
    reacts_to<close_pool>,    // from the gate: nothing begins here any more
    reacts_to<tick>>;         // own timer: does a stopped call still run?

/// Folds the provider's bytes into text, call fragments, usage, finish.
using stream_consumer_actor =
    caf::typed_actor<reacts_to<model_bytes>,  // from the transport
                     reacts_to<model_end>,    // from the transport, last
                     reacts_to<model_held>,   // from the transport, first
                     reacts_to<credit>,  // its text is committed: let more come
                     reacts_to<stop_asking>,   // end the turn now
                     reacts_to<broken_turn>>;  // from the parser: as failed

/// Makes calls of fragments; emits each as soon as it is complete.
using tool_call_parser_actor =
    caf::typed_actor<reacts_to<call_fragments>,  // in the order in which they
                                                 // came
                     reacts_to<turn_over>,       // no fragment follows
                     reacts_to<calls_checked>,   // from a look's thread
                     reacts_to<check_overdue>,   // own timer
                     reacts_to<stop_asking>>;    // look at nothing more

/// Merges all sources of a run into one order.
using progress_muxer_actor =
    progress_listener::extend<reacts_to<run_peers>,  // once, first
                              reacts_to<turn_text>,  // from the stream consumer
                              reacts_to<run_entry>,  // from orchestrator and
                                                     // proposal tracker
                              reacts_to<call_begun>,    // from the dispatcher
                              reacts_to<call_settled>,  // from the dispatcher
                              reacts_to<give_up_waiting>>;  // own timer

/// Numbers, batches and stores events; passes on what was acknowledged.
using publisher_actor =
    caf::typed_actor<reacts_to<run_peers>,           // once, first
                     reacts_to<turn_text>,           // from the muxer
                     reacts_to<run_entry>,           // from the muxer
                     reacts_to<published_progress>,  // from the muxer
                     reacts_to<commit_done>,         // from the journal
                     reacts_to<flush_due>,   // own timer: text has waited long
                                             // enough
                     reacts_to<status_due>,  // own timer: a status to tell
                     reacts_to<attach_subscriber>>;  // from the registry

/// The life of each call; the only one who says that it began or settled.
using dispatcher_actor = work_listener::extend<
    reacts_to<run_peers>,          // once, first
    reacts_to<restored_calls>,     // from the orchestrator:
                                   // recovery
    reacts_to<parsed_calls>,       // from the parser
    reacts_to<malformed_call>,     // from the parser
    reacts_to<more_calls>,         // own: large turns in pieces
    reacts_to<turn_over>,          // passed on to the orchestrator
    reacts_to<gate_opened>,        // the turn is recorded
    reacts_to<cancel_call>,        // from the registry: end one
    reacts_to<drain_request>,      // end all open calls
    reacts_to<step_forgotten>,     // the next step begins
    reacts_to<approval_decision>,  // from the proposal tracker
    reacts_to<intent_committed>,   // from the publisher
    reacts_to<call_judged>,        // from a look's thread
    reacts_to<work_progressed>,    // from the muxer
    reacts_to<control_done>,       // from the orchestrator
    reacts_to<work_returned>,      // from a blocking executor's
                                   // thread
    reacts_to<pool_replaced>,      // from the registry
    reacts_to<pool_of_node>,       // from the registry
    reacts_to<orphan_due>,         // own timer
    reacts_to<tick>>;              // own timer: time limits

/// Proposals of a run: asked for, decided, expired, withdrawn.
using proposal_tracker_actor =
    caf::typed_actor<reacts_to<run_peers>,           // once, first
                     reacts_to<approval_request>,    // from the dispatcher
                     reacts_to<approval_withdrawn>,  // from the dispatcher
                     reacts_to<open_proposal>,       // from the orchestrator
                     reacts_to<request_committed>,   // from the publisher
                     reacts_to<call_inspected>,      // from its look's thread
                     reacts_to<inspection_overdue>,  // own timer
                     reacts_to<expiry_due>,          // own timer
                     reacts_to<decision_known>>;     // from the inbox

/// Where the decisions of all processes meet: looks for those that are awaited
/// here, stores Riffle's own, starts what was approved. Its thread may block
/// on the journal.
using command_inbox_actor =
    caf::typed_actor<reacts_to<run_peers>,         // once: the registry
                     reacts_to<watch_proposal>,    // from a tracker
                     reacts_to<unwatch_proposal>,  // from a tracker
                     reacts_to<settle_proposal>,   // from a tracker
                     reacts_to<decision_known>,    // from the node
                     reacts_to<queued_cause>,      // from the node
                     reacts_to<cause_made>,        // own: what a run needs
                     reacts_to<runs_here>,         // from the registry
                     reacts_to<tick>>;  // own timer, while something waits

/// The step loop of a run, nothing else.
using orchestrator_actor =
    caf::typed_actor<reacts_to<run_peers>,  // once, first: begin, or recover
                     reacts_to<turn_over>,  // from the dispatcher
                     reacts_to<settlement_committed>,  // from the publisher
                     reacts_to<drain_committed>,       // from the publisher
                     reacts_to<end_committed>,         // from the publisher
                     reacts_to<control_request>,       // from the dispatcher
                     reacts_to<proposal_made>,  // from the proposal tracker
                     reacts_to<end_run>,        // cancel, or the time limit
                     replies_to<tell_run>::with<run_told>,  // by the registry
                     reacts_to<pause_over>>;                // own timer

/// In the orchestrator's place in the run of a plan: its steps in their order.
using plan_executor_actor = orchestrator_actor::extend<
    reacts_to<step_prepared>,    // from a look's thread
    reacts_to<step_looked_at>,   // from a look's thread
    reacts_to<answer_fetched>,   // from a look's thread
    reacts_to<step_run_closed>,  // from the registry's thread: no more events
    reacts_to<step_due>,         // own timer: the step's time limit
    reacts_to<look_at_step>>;    // own timer: is its run free now?

/// When a run of each of many tasks begins; ends when its volley is over.
using volley_scheduler_actor =
    caf::typed_actor<reacts_to<begin_volley>,        // once, first
                     reacts_to<task_ended>,          // from a task's run
                     reacts_to<cancel_volley>,       // from anyone
                     reacts_to<capacity_known>,      // from rate limiters
                     reacts_to<volley_pause_over>>;  // own timer

/// Opens, adopts and disowns runs; its thread may block on the journal.
using session_store_actor =
    caf::typed_actor<replies_to<open_run_request>::with<opened_run>,
                     replies_to<adopt_run_request>::with<opened_run>,
                     reacts_to<adoption_done>,    // own: a blocking executor is
                                                  // through
                     reacts_to<disown_request>>;  // from the registry

/// Front door: spawns runs, knows them, restarts them from the journal.
using run_registry_actor = caf::typed_actor<
    replies_to<start_run>::with<run_opened>,
    replies_to<resume_run>::with<run_opened>,
    reacts_to<withdraw_run>,  // who asked has gone
    reacts_to<attach_subscriber>, reacts_to<cancel_run>, reacts_to<cancel_call>,
    replies_to<tell_run>::with<run_told>,  // says something to one that works
    reacts_to<run_ended>, reacts_to<run_broken>,
    reacts_to<work_returned>,   // from a blocking executor's thread
    reacts_to<spec_completed>,  // from an executor's thread
    reacts_to<wait_written>,    // from the journal
    reacts_to<wait_due>,        // own timer
    reacts_to<run_deadline>,    // own timer
    reacts_to<probe_journal>,   // own timer
    reacts_to<revive_pool>,     // own timer
    reacts_to<pool_of_node>,    // from the gate
    replies_to<shut_down>::with<all_ended>>;

/// What the orchestrator starts from.
struct run_start {
  std::shared_ptr<storage::run_snapshot> snapshot;
  bool fresh = true;  ///< false: recovery
  /// Calls whose work outlived the run's earlier actors.
  call_attempts acting{};
  /// It ends by this: nothing of it begins any more.
  std::optional<core::end_request> end{};
  /// Recovery: what its open step had said.
  std::string said{};
};

/// The actors of one run.
struct run_peers {
  progress_muxer_actor muxer;
  publisher_actor publisher;
  dispatcher_actor dispatcher;
  proposal_tracker_actor tracker;
  orchestrator_actor orchestrator;
  run_registry_actor registry;
  command_inbox_actor inbox;
  std::map<std::string, tool_pool_actor> pools;
  std::shared_ptr<run_work> work;  ///< what acts, also for its actors of before
  std::uint64_t epoch = 0;         ///< of that, since these actors began
};

/// registry -> dispatcher: the tool's pool died; who takes its place, if
/// anybody does.
struct pool_replaced {
  std::string tool;
  std::string reason;
  tool_pool_actor pool;
  caf::actor_addr died = {};  ///< it alone; none: whoever served the tool
};

/// gate -> pool: its node takes no calls any more. What runs goes on; the pool
/// ends with it. `later`: what has not begun waits for the word without it.
struct close_pool {
  std::string reason;
  bool later = false;
};

/// gate -> registry -> dispatchers: who gives a tool's calls to a node; null:
/// nobody does from now on.
struct pool_of_node {
  std::string key;  ///< see `pool_key`
  tool_pool_actor pool;
  /// Why the one before died: what it had does not come back from there.
  std::string failure = {};
  caf::actor_addr died = {};
};

/// Pools by tool and node; "": this process.
inline std::string pool_key(const std::string& tool, const std::string& node) {
  return node.empty() ? tool : tool + "@" + node;
}

/// dispatcher's own: a call whose pool died should have ended by now.
struct orphan_due {
  call_id id;
  std::uint32_t attempt = 0;
};

/// registry's own: a tool whose pool died too often is tried again.
struct revive_pool {
  std::string tool;
};

/// blocking executor -> session store: what became of an adoption.
struct adoption_done {
  std::uint64_t number = 0;
  run_id run;
  opened_run answer;
};

struct watch_proposal {
  proposal_id id;
  proposal_tracker_actor tracker;
};

struct published_progress {
  events::tool_progress body;
  tool_worker_actor from;
};

}  // namespace riffle

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::more_calls)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::run_peers)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::pool_replaced)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::close_pool)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::pool_of_node)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::orphan_due)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::revive_pool)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::published_progress)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::watch_proposal)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::adoption_done)
