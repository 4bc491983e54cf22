// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string_view>

#include "messages/error.hpp"

namespace riffle::mcp {

/// Makes the folder, of mode 0700, as its parent is if that has to be made.
void make_private_folder(const std::filesystem::path& folder);

/// Whole or not at all, mode 0600; in a folder that is there.
expected<void> write_private_file(const std::filesystem::path& file,
                                  std::string_view text);

}  // namespace riffle::mcp
