// SPDX-License-Identifier: MIT
#pragma once

// The type ids of the messages that may cross nodes: what is sent, not what is
// in it. Include it before a message of these types is sent. The block of
// another folder begins where this one ends, at
// `caf::id_block::riffle_messages::end`.

#include <cstddef>

#include <caf/actor_system_config.hpp>
#include <caf/type_id.hpp>

#include "messages/inspect.hpp"

CAF_BEGIN_TYPE_ID_BLOCK(riffle_messages, caf::first_custom_type_id)

CAF_ADD_TYPE_ID(riffle_messages, (riffle::work::offer))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::work::assignment))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::work::stop))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::work::started))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::work::progress))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::work::ack))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::work::done))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::work::lost))
CAF_ADD_TYPE_ID(riffle_messages, (riffle::work::freed))

CAF_END_TYPE_ID_BLOCK(riffle_messages)

namespace riffle {

template <class... Ts>
struct type_list {
  static constexpr std::size_t size = sizeof...(Ts);
};

/// Every type of the block, in its order. The tests walk over it.
using message_types =
    type_list<work::offer, work::assignment, work::stop, work::started,
              work::progress, work::ack, work::done, work::lost, work::freed>;

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
