// SPDX-License-Identifier: MIT
#pragma once

// The type ids of the vocabulary. Include it before a message of these types
// is sent. The block of another folder begins where this one ends, at
// `caf::id_block::riffle_messages::end`.

#include <cstddef>

#include <caf/actor_system_config.hpp>
#include <caf/type_id.hpp>

#include "messages/inspect.hpp"

CAF_BEGIN_TYPE_ID_BLOCK(riffle_messages, caf::first_custom_type_id)

CAF_ADD_TYPE_ID(riffle_messages, (riffle::session_id))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::run_id))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::call_id))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::proposal_id))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::wall_time))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::errc))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::error))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::effect))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::outcome))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::call_limits))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::tool_call))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::call_result))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::tool_progress_report))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::token_usage))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::finish_reason))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::call_fragment))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::piece_kind))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::piece_list))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::turn_delta))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::run_started))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::step_start))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::step_restarted))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::llm_token))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::llm_reasoning))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::call_status))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::tool_call))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::tool_progress))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::tool_result))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::plan_updated))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::approval_required))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::proposal_outcome))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::approval_resolved))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::proposal_source))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::proposal_status))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::proposal))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::usage))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::retry_what))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::retry))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::status))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::failure))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::final_answer))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::run_status))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::events::run_finished))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::event))

CAF_END_TYPE_ID_BLOCK(riffle_messages)

namespace riffle {

template <class... Ts>
struct type_list {
  static constexpr std::size_t size = sizeof...(Ts);
};

/// Every type of the block, in its order. The tests walk over it.
using message_types = type_list<
    session_id, run_id, call_id, proposal_id, wall_time, errc, error, effect,
    outcome, call_limits, tool_call, call_result, tool_progress_report,
    token_usage, finish_reason, call_fragment, piece_kind, piece_list,
    turn_delta, events::run_started, events::step_start, events::step_restarted,
    events::llm_token, events::llm_reasoning, events::call_status,
    events::tool_call, events::tool_progress, events::tool_result,
    events::plan_updated, events::approval_required, events::proposal_outcome,
    events::approval_resolved, events::proposal_source, events::proposal_status,
    events::proposal, events::usage, events::retry_what, events::retry,
    events::status, events::failure, events::final_answer, events::run_status,
    events::run_finished, event>;

/// Whether the list is the block: as many types, each at its place.
template <class... Ts>
constexpr bool is_block(type_list<Ts...>) {
  using block = caf::id_block::riffle_messages;
  if (sizeof...(Ts) != block::end - block::begin) return false;
  caf::type_id_t next = block::begin;
  return ((caf::type_id<Ts>::value == next++) && ...);
}
static_assert(is_block(message_types{}));

/// Makes the types known to an actor system's configuration.
inline void register_messages(caf::actor_system_config& cfg) {
  cfg.add_message_types<caf::id_block::riffle_messages>();
}

}  // namespace riffle
