// SPDX-License-Identifier: MIT
#pragma once

// What processes of a cluster say to each other beside the messages of work
// (messages/work.hpp), which travel behind a `tag`. Each process has one gate;
// gates speak to gates, and to nobody else.
//
//   who dials -> other   hello, terms; the other answers with its own, or a
//                        refusal
//   node -> origin       offers, at first and when they change
//   both                 ping, answered by a pong, each heartbeat
//   origin -> node       (tag, assignment), (tag, stop), (tag, ack), piece_ack
//   node -> origin       (tag, taken), (tag, started), (tag, progress),
//                        (tag, done), (tag, lost), piece
//   origin -> node       fenced: what you had from me was taken from you; the
//                        node ends it, and greets anew with another epoch
//   observer -> both     ask_status, ask_drain; the latter also from a process
//                        to its node, for an observer
//
// `hello` begins with its version and keeps its place: both ends have the same
// version, or they do not talk.

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "messages/call.hpp"
#include "messages/work.hpp"

namespace riffle::cluster {

/// Counts the changes of the values here and of when they are sent.
inline constexpr std::uint32_t version = 3;

struct hello {
  std::uint32_t version = cluster::version;
  std::uint32_t work = work::version;
  std::string program{};   ///< version of Riffle, for people
  std::string group{};     ///< `cluster.group`
  std::string name{};      ///< of the process
  std::string instance{};  ///< another one for each start of a process
  /// Of what the sender runs for the other: anew after it was fenced.
  std::uint64_t epoch = 0;
  bool observer = false;  ///< it only looks
  std::vector<std::string> labels{};
  std::int64_t since_ms = 0;  ///< when it started, Unix time

  bool operator==(const hello&) const = default;
};

/// What the sender waits for before it holds that calls of the other, which it
/// does not hear any more, act no longer: `orphan_after`, then `kill_grace`.
/// The other ends what it runs for the sender in time, whatever its own times
/// are.
struct terms {
  duration orphan_after{};
  duration kill_grace{};

  bool operator==(const terms&) const = default;
};

/// The end of a link that began.
struct refusal {
  std::string reason{};

  bool operator==(const refusal&) const = default;
};

/// A tool that a node runs for others.
struct tool_offer {
  std::string name{};
  std::string description{};
  std::string parameters{};  ///< JSON Schema
  effect eff = effect::mutating;
  bool idempotent = false;
  bool needs_approval = true;       ///< the node's own configuration says so
  std::vector<std::string> keys{};  ///< JSON pointers, as `tools.X.keys`
  duration timeout{};               ///< the node's own limit; 0: none
  std::uint32_t places = 1;         ///< calls at once
  std::string definition{};         ///< changes when the tool is another one

  bool operator==(const tool_offer&) const = default;
};

struct offers {
  bool draining = false;  ///< it takes no more calls
  std::vector<tool_offer> tools{};

  bool operator==(const offers&) const = default;
};

struct ping {
  std::uint64_t number = 0;

  bool operator==(const ping&) const = default;
};

/// How much of a node's places is taken, by all of its origins.
struct tool_load {
  std::string tool{};
  std::uint32_t places = 0;
  std::uint32_t running = 0;
  std::uint32_t waiting = 0;

  bool operator==(const tool_load&) const = default;
};

struct pong {
  std::uint64_t number = 0;
  std::vector<tool_load> loads{};

  bool operator==(const pong&) const = default;
};

/// Which call a message of work is about: given by the origin, 128 random bits
/// for each attempt, so that a node answers only what was given to it.
struct tag {
  std::uint64_t epoch = 0;  ///< as the node's hello said
  std::string token{};

  bool operator==(const tag&) const = default;
};

/// The node has the call, which may have to wait there.
struct taken {};

/// A part of a call's whole output. They come before its result.
struct piece {
  std::uint64_t offset = 0;
  std::string bytes{};

  bool operator==(const piece&) const = default;
};

/// Room for one more.
struct piece_ack {
  bool stop = false;  ///< it cannot be kept here: no more of it

  bool operator==(const piece_ack&) const = default;
};

struct fenced {
  std::uint64_t epoch = 0;

  bool operator==(const fenced&) const = default;
};

struct ask_status {};

/// Take no more calls, and end when there are none.
struct ask_drain {
  std::string node{};  ///< not the one that is asked, but this one of its nodes

  bool operator==(const ask_drain&) const = default;
};

/// A node, as a process knows it that uses it.
struct node_status {
  std::string name{};
  std::string state{};    ///< up draining lost
  std::string program{};  ///< version of Riffle, for people
  std::vector<std::string> labels{};
  std::vector<tool_load> loads{};
  duration round_trip{};  ///< 0: not known
  std::int64_t since_ms = 0;

  bool operator==(const node_status&) const = default;
};

struct status {
  std::string state{};  ///< up draining
  std::vector<tool_load> loads{};
  std::vector<std::string> origins{};  ///< who uses it
  std::vector<node_status> nodes{};    ///< whom it uses

  bool operator==(const status&) const = default;
};

inline auto fields(hello& x) {
  return std::tie(x.version, x.work, x.program, x.group, x.name, x.instance,
                  x.epoch, x.observer, x.labels, x.since_ms);
}
inline auto fields(terms& x) { return std::tie(x.orphan_after, x.kill_grace); }
inline auto fields(refusal& x) { return std::tie(x.reason); }
inline auto fields(tool_offer& x) {
  return std::tie(x.name, x.description, x.parameters, x.eff, x.idempotent,
                  x.needs_approval, x.keys, x.timeout, x.places, x.definition);
}
inline auto fields(offers& x) { return std::tie(x.draining, x.tools); }
inline auto fields(ping& x) { return std::tie(x.number); }
inline auto fields(tool_load& x) {
  return std::tie(x.tool, x.places, x.running, x.waiting);
}
inline auto fields(pong& x) { return std::tie(x.number, x.loads); }
inline auto fields(tag& x) { return std::tie(x.epoch, x.token); }
inline auto fields(taken&) { return std::tie(); }
inline auto fields(piece& x) { return std::tie(x.offset, x.bytes); }
inline auto fields(piece_ack& x) { return std::tie(x.stop); }
inline auto fields(fenced& x) { return std::tie(x.epoch); }
inline auto fields(ask_status&) { return std::tie(); }
inline auto fields(ask_drain& x) { return std::tie(x.node); }
inline auto fields(node_status& x) {
  return std::tie(x.name, x.state, x.program, x.labels, x.loads, x.round_trip,
                  x.since_ms);
}
inline auto fields(status& x) {
  return std::tie(x.state, x.loads, x.origins, x.nodes);
}

}  // namespace riffle::cluster
