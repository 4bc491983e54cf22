// SPDX-License-Identifier: MIT
#pragma once

// Ids as people type them: the beginning or the ending of one is enough, if
// only one has it. Pure.

#include <cstddef>
#include <span>
#include <string>

#include "messages/error.hpp"
#include "messages/ids.hpp"

namespace riffle::service {

/// Ids begin with the time and end with chance: so short a part says little.
inline constexpr std::size_t shortest_part = 4;

/// The id of `all` that is `part`, else the only one that begins or ends with
/// it. Fails with `not_found`, and with `invalid_request`, naming some, where
/// several do.
expected<session_id> match_id(const std::string& part,
                              std::span<const session_id> all);
expected<proposal_id> match_id(const std::string& part,
                               std::span<const proposal_id> all);

}  // namespace riffle::service
