// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace riffle::core {

/// Whether a script of sed is surely one that runs no command: deletes,
/// prints, substitutes, inserts text. False of all else, also of what only
/// reads or writes files, and of several lines.
bool is_plain_sed(std::string_view script);

}  // namespace riffle::core
