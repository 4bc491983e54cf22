// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace riffle {

/// What happens to calls that need approval.
enum class approve : std::uint8_t {
  none,  ///< denied, with a result that tells the model what to do
  all,   ///< approved
  /// Each becomes a proposal that `runtime::decide` decides. With
  /// `approvals.mode` "wait" the run waits for it, at most
  /// `approvals.expire_after`, also if nobody is there to decide. With
  /// "propose" the model is told that the call needs approval, the run goes
  /// on, and an approval starts a run of its own (see `decided`).
  ask,
  /// As `none`, but not by choice: nobody is there to ask. What was approved
  /// once and for all still counts; each call that is denied says `unasked` in
  /// its `approval_resolved`.
  nobody,
};

/// What comes of a decision about a proposal.
enum class decision_verdict : std::uint8_t {
  accepted,  ///< the first one: it holds
  too_late,  ///< another decision holds; it is in the answer
  stale,     ///< made for other arguments; the proposal stays open
  unknown,   ///< no such proposal
};

/// How far an approval reaches beyond its call, from the narrowest to the
/// widest. It counts in one folder, in one session of it unless it is kept for
/// all of them, and while the tool's definition is what it was.
enum class always_scope : std::uint8_t {
  none,
  call,     ///< calls with exactly these arguments
  pattern,  ///< calls whose subject matches a pattern that was shown
  tool,     ///< every call of the tool
};

constexpr std::string_view to_string(always_scope x) noexcept {
  switch (x) {
    case always_scope::none: break;
    case always_scope::call: return "call";
    case always_scope::pattern: return "pattern";
    case always_scope::tool: return "tool";
  }
  return "none";
}

constexpr std::optional<always_scope> parse_always_scope(
    std::string_view text) noexcept {
  for (const auto x : {always_scope::none, always_scope::call,
                       always_scope::pattern, always_scope::tool})
    if (to_string(x) == text) return x;
  return std::nullopt;
}

}  // namespace riffle
