// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace riffle {

/// SHA-256 (FIPS 180-4) in lower-case hex.
std::string sha256(std::string_view bytes);

/// What a decision about a call is bound to: the SHA-256 of the tool's name
/// and the canonical text of its arguments (compact, keys sorted), so that who
/// shows a proposal can compute it from what was shown. Arguments that are no
/// JSON are taken as they are.
std::string proposal_digest(std::string_view tool, std::string_view arguments);

}  // namespace riffle
