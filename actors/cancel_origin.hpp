// SPDX-License-Identifier: MIT
#pragma once

namespace riffle {

/// Where the error comes from (`error::op`) that ends a run whose end another
/// process asked for.
inline constexpr const char* asked_elsewhere = "cancel_request";

}  // namespace riffle
