// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "messages/time.hpp"

namespace riffle {

/// As people and the configuration write it: "100ms", "1.5s", "2m". The
/// shortest such text that is at least one unit.
std::string duration_text(duration x);

}  // namespace riffle
