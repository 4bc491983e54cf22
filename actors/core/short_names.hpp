// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "messages/turn.hpp"

namespace riffle::core {

constexpr std::size_t longest_id = 256;
constexpr std::size_t longest_name = 128;

/// Ids and names of calls cost memory with each record of the call, and
/// nobody needs long ones. A longer id is replaced by a begin of it that stays
/// unlike others'; since every message to the provider is made from what is
/// kept here, its calls and their results still fit together. A longer name is
/// cut; no tool has it before or after. Says how many bytes went.
std::uint64_t shorten_names(turn_delta& x);

}  // namespace riffle::core
