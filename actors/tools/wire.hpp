// SPDX-License-Identifier: MIT
#pragma once

// What workers, their supervisors and the runs that they work for say to each
// other, so far as it may cross nodes: messages of registered types only. (CAF
// takes others too, says so on standard error, and sends them cut short.)

#include <caf/config.hpp>
#include <caf/typed_actor.hpp>

#include "messages/type_ids.hpp"

namespace riffle {

using caf::reacts_to;

/// Hears how a call goes on: the dispatcher of its run.
using work_listener =
    caf::typed_actor<reacts_to<work::started>,  // from a worker's thread
                     reacts_to<work::done>,     // from a worker, or its pool
                     reacts_to<work::lost>>;    // from a pool

/// Hears what a tool reports: the muxer of the call's run.
using progress_listener = caf::typed_actor<reacts_to<work::progress>>;

/// Whom a worker tells of a call.
struct work_listeners {
  work_listener dispatcher;
  progress_listener muxer;
};

/// Runs calls, wherever it is.
using tool_worker_actor =
    caf::typed_actor<reacts_to<work::assignment, work_listeners>,  // run it
                     reacts_to<work::stop>,  // ask it to stop (kill ladder)
                     reacts_to<work::ack>>;  // room for one more report

/// Has workers.
using work_supervisor =
    caf::typed_actor<reacts_to<work::offer>,   // a worker begins
                     reacts_to<work::freed>>;  // it can take a call again

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, work_listeners& x) {
  return f(x.dispatcher, x.muxer);
}

}  // namespace riffle

CAF_BEGIN_TYPE_ID_BLOCK(riffle_actors, caf::id_block::riffle_messages::end)

CAF_ADD_TYPE_ID(riffle_actors, (riffle::work_listeners))

CAF_END_TYPE_ID_BLOCK(riffle_actors)

namespace riffle {

// How CAF tells registered types, and what it makes of an interface, is no
// public part of it.
static_assert(CAF_VERSION >= 1706 && CAF_VERSION < 1800,
              "what crosses nodes is judged by parts of CAF 0.17.6");

template <class... Ts>
inline constexpr bool are_registered =
    (caf::detail::is_complete<caf::type_id<Ts>>::value && ...);

/// Whether an actor of this type understands nothing but what can reach it from
/// another node.
template <class Actor>
inline constexpr bool crosses_nodes = false;
template <class... Ins, class... Outs>
inline constexpr bool
    crosses_nodes<caf::typed_actor<caf::typed_mpi<Ins, Outs>...>> =
        (crosses_nodes<caf::typed_mpi<Ins, Outs>> && ...);
template <class... In, class Out>
inline constexpr bool
    crosses_nodes<caf::typed_mpi<caf::detail::type_list<In...>, Out>> =
        are_registered<In...>;

static_assert(crosses_nodes<work_listener>);
static_assert(crosses_nodes<progress_listener>);
static_assert(crosses_nodes<tool_worker_actor>);
static_assert(crosses_nodes<work_supervisor>);

/// Makes the messages of workers known to an actor system's configuration.
inline void register_wire(caf::actor_system_config& cfg) {
  register_messages(cfg);
  cfg.add_message_types<caf::id_block::riffle_actors>();
}

}  // namespace riffle
