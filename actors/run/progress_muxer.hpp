// SPDX-License-Identifier: MIT
#pragma once

#include "actors/core/progress_merge.hpp"
#include "actors/interfaces.hpp"

namespace riffle {

/// Holds a settlement at most this long for the worker's last report.
inline constexpr auto settlement_timeout = std::chrono::seconds{5};

struct progress_muxer_state {
  static inline const char* name = "progress_muxer";
  explicit progress_muxer_state(progress_muxer_actor::pointer me) : self{me} {}
  ~progress_muxer_state();  ///< says how many reports were dropped

  void on(run_peers& x) { peers = std::move(x); }
  void on(turn_text& x) { self->send(peers.publisher, std::move(x)); }
  void on(run_entry& x) { self->send(peers.publisher, std::move(x)); }
  void on(call_begun& x);
  void on(call_settled& x);
  void on(work::progress& x);
  void on(give_up_waiting& x) { apply(merge.on_give_up(x.id)); }
  void apply(core::progress_merge::out out);

  progress_muxer_actor::pointer self;
  run_spec_ptr spec;
  run_peers peers;
  core::progress_merge merge;
  std::uint64_t next_token = 0;
  std::unordered_map<std::uint64_t, call_settled> held;  ///< by token
  std::unordered_map<call_id, tool_worker_actor> workers;
};

progress_muxer_actor::behavior_type progress_muxer(
    progress_muxer_actor::stateful_pointer<progress_muxer_state> self,
    run_spec_ptr spec);

}  // namespace riffle
