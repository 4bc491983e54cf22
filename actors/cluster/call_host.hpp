// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "actors/cluster/lease_board.hpp"
#include "actors/cluster/output_stream.hpp"
#include "actors/cluster/wire.hpp"
#include "actors/core/piece_window.hpp"
#include "actors/interfaces.hpp"

namespace riffle {

struct host_setup {
  caf::actor gate;
  /// The pool that a tool has now; null: it is not offered, or has none.
  std::function<tool_pool_actor(const std::string& tool)> pool;
  std::map<std::string, std::uint32_t> places;  ///< of the same, at once
  std::shared_ptr<work_board> board;            ///< that its workers have
  std::shared_ptr<lease_board> leases;          ///< the same
  /// Whether this process lets the call run, which it may narrow (limits). What
  /// a peer says widens nothing.
  std::function<std::optional<error>(tool_call&)> admit;
  /// Whether `admit` looks at files for calls of this tool: then it is asked
  /// aside. Empty: never.
  std::function<bool(const std::string& tool)> admits_aside;
  /// The whole output of a call that was too long for its result; may be empty.
  std::function<output_stream_ptr(const call_id&)> whole_output;
  /// Runs a short job that blocks, elsewhere; empty: here.
  std::function<void(std::function<void()>)> aside;
  std::uint64_t most_result = 48u << 20;  ///< bytes of one answer
};

/// On a node: the calls of others, given to the pools of this process as if a
/// run here had asked for them. Who gives a call names it by a tag, and gets
/// its answers under that.
struct call_host_state {
  static inline const char* name = "call_host";
  explicit call_host_state(caf::event_based_actor* me) : self{me} {}

  using attempt_key = std::pair<call_id, std::uint32_t>;

  struct hosted {
    link_number link = 0;
    cluster::tag tag;
    run_id run;
    std::string tool;
    tool_pool_actor pool{};  ///< null: it is not admitted yet
    duration limit{};        ///< of time, the shorter of both sides'; 0: none
    duration idle{};         ///< of silence, the same
    time_point last_sign{};
    std::optional<error> overdue{};  ///< which of them is over
    bool ended = false;              ///< by the node, which is told to end
    bool started = false;
    bool orphan = false;         ///< who gave it is lost: nobody hears of it
    tool_worker_actor worker{};  ///< who wants the acks of its progress
  };
  /// A result that waits until the whole output has gone before it.
  struct ending {
    attempt_key key;
    link_number link = 0;
    work::done done;
    output_stream_ptr output;
    std::uint64_t offset = 0;
    /// Pieces that are not acknowledged: since when, and if of the usual size.
    std::deque<std::pair<time_point, bool>> in_flight;
    bool reading = false;
    bool closed = false;
  };

  void on(from_origin& x);
  void on_assignment(from_origin& from, work::assignment& x);
  void on(call_admitted& x);
  void on(const admission_overdue& x);
  void on_stop(const from_origin& from, const work::stop& x);
  void on_ack(const from_origin& from);
  void on_piece_ack(const from_origin& from, const cluster::piece_ack& x);
  void on(work::started& x);
  void on(work::progress& x);
  void on(work::done& x);
  void on(work::lost& x);
  void on(const call_overdue& x);
  void on(const origin_lost& x);
  void on(const caf::down_msg& x);
  void on(const begin_drain&);
  void on(const end_drain&);
  [[nodiscard]] time_point now() const { return self->clock().now(); }

  /// `again`: it may run at another place.
  void refuse(link_number link, const cluster::tag& tag, const attempt_key& key,
              error why, bool again = false);
  void admit(call_admitted x);
  /// By the ladder; one that is not admitted has no pool yet, and ends here.
  void stop(const attempt_key& key);
  /// Its guard ends what nobody is heard of, and may do so before the gate
  /// looks at its clock: what comes of that is no answer of the call.
  [[nodiscard]] bool outlived(const call_id& call) const {
    const auto lease = setup.leases->find(call);
    return lease && lease->until() <= now();
  }
  /// The same of all, or of those that this link gave; how many.
  std::size_t stop_those(std::optional<link_number> link);
  void read_piece(const std::string& token, ending& x);
  void give_room(link_number link, std::size_t pieces_done);
  void give_up(ending& x);
  void on(piece_read& x);
  void end_if_sent(const std::string& token);
  static void log_if_cut(const work::done& x);
  void finish(const attempt_key& key, work::done done);
  void forget(const attempt_key& key);
  void tell_load();
  hosted* find(const call_id& id, std::uint32_t attempt);
  std::shared_ptr<run_work> work_of(const run_id& run);
  template <class... Ts>
  void say(const hosted& x, Ts&&... xs) {
    if (x.orphan) return;
    self->send(
        setup.gate,
        to_peer{x.link, caf::make_message(x.tag, std::forward<Ts>(xs)...)});
  }

  caf::event_based_actor* self;
  host_setup setup;
  std::map<attempt_key, hosted> calls;
  std::map<std::pair<link_number, std::string>, attempt_key> tokens;
  std::map<run_id, std::size_t> runs;     ///< calls of each
  std::map<std::string, ending> endings;  ///< by token
  /// Pieces of a link that are being read or not acknowledged, and whose turn
  /// came last.
  std::map<link_number, std::size_t> pieces;
  std::map<link_number, std::string> last_served;
  std::map<link_number, core::piece_window> windows;
  std::map<std::string, cluster::tool_load> loads;
  std::set<caf::actor_addr> watched;  ///< pools
  bool draining = false;
};

caf::behavior call_host(caf::stateful_actor<call_host_state>* self,
                        host_setup setup);

}  // namespace riffle
