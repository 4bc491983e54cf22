// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>

#include "actors/cluster/wire.hpp"
#include "actors/interfaces.hpp"

namespace riffle {

/// Keeps a piece of a call's whole output, elsewhere, and says whether it
/// could. A piece without bytes: what was kept of the call is dropped.
using piece_keeper = std::function<void(const call_id&, cluster::piece,
                                        std::function<void(bool kept)>)>;

/// What stands here for a tool of a node.
struct remote_setup {
  caf::actor gate;
  link_number link = 0;
  std::uint64_t epoch = 0;  ///< of the node, see `cluster::tag`
  std::string node;
  std::string tool;
  std::uint32_t places = 1;
  std::shared_ptr<work_board> board;
  std::function<std::string()> make_token;  ///< 128 random bits
  /// Of outputs that a node keeps whole. Empty: they are not kept.
  piece_keeper keep_piece;
};

/// A worker whose calls run on a node: says to the node's gate what a worker
/// hears, and to the run what the node says. It claims a call (`run_work`)
/// before it goes over the wire, for from then on it may act.
struct remote_worker_state {
  static inline const char* name = "remote_worker";
  explicit remote_worker_state(caf::event_based_actor* me) : self{me} {}

  struct given {
    std::string token;
    std::uint32_t attempt = 0;
    effect eff = effect::mutating;
    work_listeners who;
    std::shared_ptr<run_work> work;
    std::uint64_t reported = 0;  ///< the number of its last report
    bool taken = false;          ///< the node said that it has it
    bool pieces = false;         ///< some of its whole output came
    bool cut = false;            ///< of that a part is not kept
  };

  void on(work::assignment& x, work_listeners& who);
  void on(const call_refused& x);
  void on(const cluster::tag& tag, const cluster::taken&);
  void on(const not_taken& x);
  void on(const work::stop& x);
  void on(const work::ack& x);
  void on(const cluster::tag& tag, work::started& x);
  void on(const cluster::tag& tag, work::progress& x);
  void on(const cluster::tag& tag, work::done& x);
  void on(const cluster::tag& tag, work::lost& x);
  void on(const piece_kept& x);
  void on(const cluster::tag& tag, cluster::piece& x);
  void on(link_lost& x);
  void on(const caf::down_msg&);
  void on(const tick&);

  /// The call of this answer, if it is the one that was given under its tag.
  given* find(const cluster::tag& tag, const call_id& id);
  void forget(const call_id& id);
  /// This attempt is lost, and what came of its output.
  void lose(const call_id& id, std::string why);
  void give_back(const call_id& id, std::uint32_t attempt,
                 const work_listener& to, const std::string& why);
  template <class... Ts>
  void say(const std::string& token, Ts&&... xs) {
    self->send(
        setup.gate,
        to_peer{setup.link, caf::make_message(cluster::tag{setup.epoch, token},
                                              std::forward<Ts>(xs)...)});
  }

  caf::event_based_actor* self;
  remote_setup setup;
  tool_pool_actor pool;
  std::map<call_id, given> calls;
  std::map<std::string, call_id> tokens;
  std::string lost;     ///< why its node is gone
  bool orphan = false;  ///< its pool died
};

caf::behavior remote_worker(caf::stateful_actor<remote_worker_state>* self,
                            remote_setup setup, tool_pool_actor pool);

}  // namespace riffle
