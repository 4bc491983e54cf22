// SPDX-License-Identifier: MIT
#pragma once

// The files of a conversation: what the disk says.

#include <span>
#include <string>
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

}  // namespace riffle::cli
