// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "messages/error.hpp"

namespace riffle::cli {

/// Standard input up to its end, at most 8 MiB. `what`: "task", for messages.
/// Fails with `invalid_request`, also if nothing is there but white space.
expected<std::string> read_stdin(const std::string& what);

/// The same of a file, within 5 s; "-" is no special name here.
expected<std::string> read_file(const std::filesystem::path& file,
                                const std::string& what);

}  // namespace riffle::cli
