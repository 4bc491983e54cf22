// SPDX-License-Identifier: MIT
#pragma once

// The files and commands of a conversation: what the disk and a shell say.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/service/requests.hpp"

namespace riffle::cli {

/// What a text names with '@' and nothing was attached for, where it looks like
/// a path: a line each, for the person.
std::vector<std::string> not_attached(const std::string& task);

/// Gives the model the files that the task names by "@": pictures and PDF as
/// attachments, texts in the context (at most 256 KiB each, 1 MiB together).
/// A name that is no file stays a word, as one of `but` does. What was
/// attached, for the person; a file that cannot be told is an error.
expected<std::string> attach_mentioned(run_request& x,
                                       std::span<const std::string> but = {});

/// Runs a command in a shell, at the terminal, with nothing to read; its output
/// is shown and comes back, at most `longest_kept` bytes of it with a note of
/// what is left out.
struct shell_result {
  int status = 0;  ///< 128 + N: ended by signal N
  std::string output{};
  std::uint64_t wrote = 0;  ///< bytes that there were
};
inline constexpr std::size_t longest_kept = 64u << 10;
expected<shell_result> run_shell(
    const std::string& command,
    const std::function<void(std::string_view)>& show);

}  // namespace riffle::cli
