// SPDX-License-Identifier: MIT
#pragma once

// The messages of gates (messages/cluster.hpp) as CAF knows them, and those
// that a gate and the actors around it say to each other in their process.

#include <functional>
#include <string>

#include "actors/tools/wire.hpp"
#include "messages/cluster.hpp"
#include "tools/lease.hpp"

namespace riffle::cluster {

using riffle::inspect;

// CAF looks for a function of these types; they have no fields.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, taken&) {
  return f();
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, ask_status&) {
  return f();
}

}  // namespace riffle::cluster

CAF_BEGIN_TYPE_ID_BLOCK(riffle_cluster, caf::id_block::riffle_actors::end)

CAF_ADD_TYPE_ID(riffle_cluster, (riffle::cluster::hello))
CAF_ADD_TYPE_ID(riffle_cluster, (riffle::cluster::refusal))
CAF_ADD_TYPE_ID(riffle_cluster, (riffle::cluster::offers))
CAF_ADD_TYPE_ID(riffle_cluster, (riffle::cluster::ping))
CAF_ADD_TYPE_ID(riffle_cluster, (riffle::cluster::pong))
CAF_ADD_TYPE_ID(riffle_cluster, (riffle::cluster::tag))
CAF_ADD_TYPE_ID(riffle_cluster, (riffle::cluster::piece))
CAF_ADD_TYPE_ID(riffle_cluster, (riffle::cluster::piece_ack))
CAF_ADD_TYPE_ID(riffle_cluster, (riffle::cluster::fenced))
CAF_ADD_TYPE_ID(riffle_cluster, (riffle::cluster::ask_status))
CAF_ADD_TYPE_ID(riffle_cluster, (riffle::cluster::ask_drain))
CAF_ADD_TYPE_ID(riffle_cluster, (riffle::cluster::status))
CAF_ADD_TYPE_ID(riffle_cluster, (riffle::cluster::taken))
CAF_ADD_TYPE_ID(riffle_cluster, (riffle::cluster::terms))

CAF_END_TYPE_ID_BLOCK(riffle_cluster)

namespace riffle {

/// Makes all messages that may cross nodes known.
inline void register_cluster(caf::actor_system_config& cfg) {
  register_wire(cfg);
  cfg.add_message_types<caf::id_block::riffle_cluster>();
}

/// A link of a gate, in its process.
using link_number = std::uint64_t;

/// Anybody here -> gate: say it to the peer of this link; `content` begins with
/// a `cluster::tag`.
struct to_peer {
  link_number link = 0;
  caf::message content;
};

/// remote_worker -> gate: send this call; answers with its token are mine.
struct give_call {
  link_number link = 0;
  cluster::tag tag;
  work::assignment what;
};

/// The answer, if it was not sent: its node is not there any more.
struct call_refused {
  std::string token;
  std::string reason;
};

/// remote_worker -> gate: no more answers with this token.
struct drop_token {
  link_number link = 0;
  std::string token;
};

/// remote_worker's own: by now its node should have said that it has the call.
struct not_taken {
  call_id id;
  std::uint32_t attempt = 0;
};

/// remote_worker -> gate: the node of this link did not get a call, or we do
/// not get what it says.
struct deaf_node {
  link_number link = 0;
  std::uint64_t epoch = 0;
};

/// gate -> remote_worker: its node takes no more calls, and what it has is
/// lost. `may_act_for`: so long what it had may still act.
struct link_lost {
  std::string reason;
  duration may_act_for{};
};

/// gate -> call_host: who gave calls is not there any more.
struct origin_lost {
  link_number link = 0;
  std::string reason;
};

/// gate -> call_host: what a peer sent about a call. `content` without its tag.
struct from_origin {
  link_number link = 0;
  cluster::tag tag;
  tools::lease_ptr lease;  ///< extended while the origin is heard
  caf::message content;
};

/// Node composition -> gate and call_host: no more calls; the process ends.
struct begin_drain {};
/// The same, the second time: what runs is asked to end.
struct end_drain {};

/// call_host -> gate: what runs now.
struct host_load {
  std::vector<cluster::tool_load> loads;
  std::size_t calls = 0;
};

/// call_host's own: the node's own time limit of a call is over, or that of its
/// silence may be.
struct call_overdue {
  call_id id;
  std::uint32_t attempt = 0;
  bool idle = false;
};

/// call_host's own: whether this process lets a call run, which it may have
/// narrowed.
struct call_admitted {
  link_number link = 0;
  cluster::tag tag;
  work::assignment given;
  std::optional<error> refused;
};

/// call_host's own: nobody could tell in time.
struct admission_overdue {
  link_number link = 0;
  std::string token;
};

/// call_host's own: a part of an output was read.
struct piece_read {
  std::string token;
  std::string bytes;
};

/// remote_worker's own: a part of an output is kept, or cannot be.
struct piece_kept {
  std::string token;
  bool kept = true;
};

/// transport -> gate: somebody takes connections there; who it is comes later.
struct dial_connected {
  std::string address;
};

/// transport -> gate: what became of a dial.
struct dialed {
  std::string address;
  caf::strong_actor_ptr gate;  ///< null: `problem`
  std::string problem;
};

}  // namespace riffle

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::to_peer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::give_call)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::call_refused)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::drop_token)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::call_admitted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::admission_overdue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::call_overdue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::not_taken)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::deaf_node)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::link_lost)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::origin_lost)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::from_origin)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::begin_drain)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::end_drain)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::host_load)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::piece_read)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::piece_kept)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::dial_connected)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::dialed)
