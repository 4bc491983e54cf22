// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <unordered_set>
#include <variant>
#include <vector>

#include "actors/core/tool_call_assembler.hpp"
#include "actors/core/writing_notice.hpp"
#include "actors/interfaces.hpp"

namespace riffle {

/// a look's thread -> parser.
struct calls_checked {
  struct one {
    tool_call call;
    std::optional<error> rejection;
  };
  std::uint32_t round = 0;  ///< which look it was
  std::vector<one> calls;
};

/// parser's own: a look takes long.
struct check_overdue {
  std::uint32_t round = 0;
  bool last = false;  ///< too long: it is not waited for any more
};

/// Makes calls of argument deltas. A read-only call leaves as soon as its
/// arguments are whole, any other when it is certainly complete; calls leave
/// in the model's order, so that the dispatcher knows all that is before one.
/// What asks the file system about a call (rules about places, whether a
/// command only reads) runs on the executor of looks; what comes meanwhile is
/// held, so that everything happens as if it had been answered at once.
struct tool_call_parser_state {
  static inline const char* name = "tool_call_parser";
  explicit tool_call_parser_state(tool_call_parser_actor::pointer me)
      : self{me} {}

  void on(call_fragments& x);
  void on(turn_over& x);
  void on(calls_checked& x);
  void on(const check_overdue& x);
  /// Nothing is looked at any more: what would have to be will not begin.
  void on(const stop_asking&) { stop(); }
  void stop();
  void apply(std::vector<core::assembly_event> news);
  void emit_in_order();
  void send_out();
  [[nodiscard]] bool may_go_early(const tool_call& call) const;

  /// A call that has not left yet.
  struct pending {
    core::assembled_call raw;
    core::assembly_step how = core::assembly_step::whole;
    std::optional<tool_call> checked;  ///< made of `raw`
    bool looking = false;              ///< it is not known yet what it does
  };
  using message = std::variant<call_fragments, turn_over>;

  /// False: a look has to tell more.
  bool make(pending& x);
  void check(pending& x);
  void submit_look();
  /// What was held comes in.
  void end_look();
  void pass_over_on();
  void take_fragments(const call_fragments& x);
  void take_over(turn_over& x);
  [[nodiscard]] bool is_looking() const { return look != 0; }
  /// Says which call is being written, for those who wait.
  void tell_writing();
  /// It has far more calls than any turn may have.
  [[nodiscard]] bool has_no_end() const;
  /// Calls that may run are part of the limit on a turn's bytes.
  [[nodiscard]] bool is_too_long(std::uint64_t said) const;
  [[nodiscard]] std::optional<error> flood_error() const;
  void cut_turn(std::optional<error> why);

  tool_call_parser_actor::pointer self;
  run_spec_ptr spec;
  std::uint32_t step = 0;
  dispatcher_actor dispatcher;
  progress_muxer_actor muxer;
  core::writing_notice writing;
  core::tool_call_assembler assembler;
  std::map<std::uint32_t, pending> waiting;
  std::vector<call_id> sent;  ///< by their index
  std::unordered_set<std::string> provider_ids;
  std::vector<tool_call> ready;
  bool cut = false;  ///< the consumer was told so
  caf::actor_addr consumer;
  std::uint32_t look = 0;  ///< the round that goes on, or none
  std::uint32_t looks = 0;
  bool stopped = false;  ///< no more looks
  std::deque<message> held;
  std::optional<turn_over> over;  ///< came; calls are looked at
};

/// How many calls of a turn are looked at, with this limit on those that run
/// (`max_calls_per_turn`; 0: none). Those behind them are dropped; where there
/// is no limit the turn is broken.
[[nodiscard]] std::size_t most_calls(std::uint32_t limit);

tool_call_parser_actor::behavior_type tool_call_parser(
    tool_call_parser_actor::stateful_pointer<tool_call_parser_state> self,
    run_spec_ptr spec, std::uint32_t step, dispatcher_actor dispatcher,
    progress_muxer_actor muxer);

}  // namespace riffle

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::calls_checked)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::check_overdue)
