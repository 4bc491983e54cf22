// SPDX-License-Identifier: MIT
#pragma once

// What the preview of a change was made from, and whether it is still there
// when the change is made.

#include <string>
#include <string_view>

#include "tools/builtin/files/replace_file.hpp"

namespace riffle::tools {

/// The place, and the content of the file as it is: the same text for the same
/// bytes there. There is one for "no file", too.
std::string basis_of(const write_target& target);

/// The same if it held this text.
std::string basis_of(const write_target& target, std::string_view content);

/// The preview of a call that would fail now. If it would not fail later, that
/// is not what was shown. `tells`: the model may know why, so it need not be
/// asked about. Without that its tries are questions to a person, not an oracle
/// of what it may not read.
call_preview cannot_preview(const tool_output& why, bool tells);

/// Whether the open file is what was approved (`tool_context::basis`): 0 or
/// ESTALE.
int check_basis(const write_target& target, const std::string& basis);

/// The same of what the name stands for now; asked last, before the file is
/// replaced.
int check_basis_now(const write_target& target, const std::string& basis);

}  // namespace riffle::tools
