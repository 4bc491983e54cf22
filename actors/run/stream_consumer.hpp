// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "actors/core/message_assembler.hpp"
#include "actors/core/reasoning_filter.hpp"
#include "actors/interfaces.hpp"
#include "runtime/base/endpoint.hpp"

namespace riffle {

/// Bytes that may be on their way from a transport to committed events.
inline constexpr std::size_t model_credit = 512u << 10;

struct stream_consumer_state {
  static inline const char* name = "stream_consumer";
  explicit stream_consumer_state(stream_consumer_actor::pointer me)
      : self{me} {}
  ~stream_consumer_state();

  void begin(run_spec_ptr run, core::open_turn which, std::string body,
             tool_call_parser_actor next, progress_muxer_actor out);
  void on(const model_bytes& x);
  void on(model_end& x);
  void on(const model_held& x);
  void on(const credit& x) {
    if (transfer != 0) spec->transport->grant(transfer, x.bytes);
  }
  void on(stop_asking&);
  void on(broken_turn& x);
  void pass_on(turn_delta& delta, std::size_t bytes, bool whole);
  [[nodiscard]] bool is_too_long() const;
  void cut_off();
  [[nodiscard]] std::uint64_t said() const;
  void finish(std::optional<error> failure);

  stream_consumer_actor::pointer self;
  run_spec_ptr spec;
  core::open_turn turn;
  tool_call_parser_actor parser;
  progress_muxer_actor muxer;
  std::unique_ptr<model::decoder> decoder;
  core::message_assembler message;
  std::uint64_t cut_names = 0;  ///< bytes of names that were too long
  core::reasoning_filter repetitions;
  model::transfer_id transfer = 0;
  std::optional<duration> retry_after;
  bool shown = false;     ///< a part of the answer became events
  bool answered = false;  ///< a part of the answer came
  bool over = false;

  void meter_chunk();
  void meter_end(const core::turn_summary& x);
  time_point opened{};                   ///< when the transfer was asked for
  url_server asked{};                    ///< set while metrics are read
  std::optional<time_point> last_chunk;  ///< set while metrics are read
};

/// Opens the transfer at once. `body`: the request.
stream_consumer_actor::behavior_type stream_consumer(
    stream_consumer_actor::stateful_pointer<stream_consumer_state> self,
    run_spec_ptr spec, core::open_turn turn, std::string body,
    tool_call_parser_actor parser, progress_muxer_actor muxer);

}  // namespace riffle
