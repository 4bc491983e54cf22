// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "messages/time.hpp"

namespace riffle {

/// As people and the configuration write it: "100ms", "1.5s", "2m". The
/// shortest such text that is at least one unit.
std::string duration_text(duration x);

/// The reverse, of every such text ("24h", "0s"); nothing if it is ill-formed.
std::optional<duration> parse_duration(std::string_view text);

}  // namespace riffle
