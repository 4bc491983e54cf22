// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace riffle {

/// Begins each message that the model gets in the user's place but not from
/// the user: a reminder, a hint, the plan. Dialects differ in where they take
/// a system message; all take one of the user.
inline constexpr std::string_view runtime_note = "[Note of the runtime] ";

}  // namespace riffle
