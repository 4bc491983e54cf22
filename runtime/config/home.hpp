// SPDX-License-Identifier: MIT
#pragma once

// Folders of the person who runs the program. Where they cannot be known
// nothing is guessed: a folder named "~" helps nobody.

#include <filesystem>
#include <string>

#include "messages/error.hpp"
#include "runtime/config/config.hpp"

namespace riffle::config {

/// Replaces a leading "~" by the home directory. Fails with `invalid_config`
/// if there is none ($HOME is no absolute path), and for "~user".
expected<std::filesystem::path> resolve_home(const std::string& path);

/// $`variable` if it is an absolute path, else `fallback`, which may begin
/// with "~". Without both the error names both variables.
expected<std::filesystem::path> user_folder(const char* variable,
                                            const std::string& fallback);

/// `runtime.data_dir` without a "~"; the error names the key.
expected<std::filesystem::path> data_folder(const runtime_config& x);

/// A file or folder that a key names: "~" is replaced, what is relative is
/// looked for in the configuration's folder.
expected<std::filesystem::path> named_path(const config& x,
                                           const std::string& name);

/// Why `file`, which a key calls `name`, is none that can be read; empty: it is
/// a plain file.
std::string no_plain_file(const std::filesystem::path& file,
                          const std::string& name);

}  // namespace riffle::config
