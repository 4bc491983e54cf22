// SPDX-License-Identifier: MIT
#pragma once

// Shared by the parts of the dispatch queue, and by recovery, which has to know
// what the queue will do.

#include <string>
#include <utility>

#include "messages/call.hpp"
#include "messages/json_strict.hpp"

namespace riffle::core::dispatch_detail {

inline constexpr const char* op = "dispatcher";

inline call_result failed(outcome how, error why, std::uint32_t attempts) {
  return {how, {}, std::move(why), {}, {}, attempts};
}

/// Of a call that ends by this without having begun.
inline outcome outcome_of(const error& why) {
  switch (why.code) {
    case errc::truncated:
    case errc::budget_exceeded: return outcome::skipped;
    case errc::approval_denied:
    case errc::approval_expired: return outcome::denied;
    default: return outcome::failed;
  }
}

/// Whether a call whose outcome is unknown may run again.
inline bool may_repeat(const tool_call& x) {
  return x.eff == effect::read_only || x.idempotent;
}

/// By what finished reads are found: whatever the order of their arguments.
/// Compact text of a single one has no order.
inline std::string reuse_key(const std::string& tool,
                             const std::string& arguments) {
  if (arguments.find_first_of(", \\\t\r\n") == arguments.npos)
    return tool + '\0' + arguments;
  const auto value = parse_strict(arguments);
  return tool + '\0' + (value ? value->dump() : arguments);
}

}  // namespace riffle::core::dispatch_detail
