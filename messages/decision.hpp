// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace riffle {

/// What comes of a decision about a proposal.
enum class decision_verdict : std::uint8_t {
  accepted,  ///< the first one: it holds
  too_late,  ///< another decision holds; it is in the answer
  stale,     ///< made for other arguments; the proposal stays open
  unknown,   ///< no such proposal
};

}  // namespace riffle
