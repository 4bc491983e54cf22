// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "messages/error.hpp"

namespace riffle::cli {

/// Standard input up to its end, at most 8 MiB. `what`: "task", for messages.
/// Fails with `invalid_request`, also if nothing is there but white space.
expected<std::string> read_stdin(const std::string& what);

/// Whether standard input is a pipe or a file: something that was given, no
/// terminal and nothing that is open by chance.
bool stdin_is_given();

/// Standard input as far as it is given: "" if it ends at once, or says nothing
/// for 2 s, which `silent` then tells. Fails with `invalid_request`.
expected<std::string> read_given_stdin(bool& silent);

/// The same of a file, within 5 s; "-" is no special name here.
expected<std::string> read_file(const std::filesystem::path& file,
                                const std::string& what);

}  // namespace riffle::cli
