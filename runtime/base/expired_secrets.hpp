// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace riffle {

/// What was given to `add_secret` (secrets.hpp) is a secret no more: it has
/// expired, and no text need be searched for it. A value of a variable stays
/// one. Thread-safe.
void forget_secret(std::string_view value);

}  // namespace riffle
