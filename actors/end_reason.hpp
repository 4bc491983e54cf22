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

/// Where the error comes from (`error::op`) that ends a run whose end another
/// process asked for.
inline constexpr const char* asked_elsewhere = "cancel_request";

}  // namespace riffle
