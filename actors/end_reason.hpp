// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <caf/error.hpp>

namespace riffle {

/// Whether an actor that ended with `reason` failed; an end that was asked for
/// is no failure ("transient" of Erlang's supervisors).
[[nodiscard]] bool is_crash(const caf::error& reason);

/// Why an actor ended, as a person says it: the text of the exception without
/// CAF's wrapping, "it was killed", else CAF's own words.
[[nodiscard]] std::string describe_end(const caf::error& reason);

}  // namespace riffle
