// SPDX-License-Identifier: MIT
#pragma once

// Ids as people type them: the beginning or the ending of one is enough, if
// only one has it; and titles, by words of them. Pure.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

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

/// Whether each of these words stands somewhere in the text; capital and small
/// letters of ASCII are the same. No words: yes.
bool has_words(std::string_view text, std::string_view words);

}  // namespace riffle::service
