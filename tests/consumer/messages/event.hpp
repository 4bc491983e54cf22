// SPDX-License-Identifier: MIT
#pragma once

// An application's header of the same name as one of Riffle's.
namespace consumer {
inline constexpr int answer = 42;
}  // namespace consumer
