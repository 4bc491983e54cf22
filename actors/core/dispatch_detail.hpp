// SPDX-License-Identifier: MIT
#pragma once

// Shared by the two halves of the dispatch queue; private to them.

#include <utility>

#include "messages/call.hpp"

namespace riffle::core::dispatch_detail {

inline constexpr const char* op = "dispatcher";

inline call_result failed(outcome how, error why, std::uint32_t attempts) {
  return {how, {}, std::move(why), {}, {}, attempts};
}

/// Whether a call whose outcome is unknown may run again.
inline bool may_repeat(const tool_call& x) {
  return x.eff == effect::read_only || x.idempotent;
}

}  // namespace riffle::core::dispatch_detail
