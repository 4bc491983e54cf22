// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "messages/error.hpp"

namespace riffle::cli {

/// Lets a person edit a text in $VISUAL, $EDITOR or `editor`, at the terminal
/// `terminal_fd`, which the editor has for itself meanwhile (also its Ctrl-C).
/// Blocks until the editor has ended; `gave_up` is asked about ten times a
/// second and ends it. What it left is the answer. Fails with
/// `invalid_request`: there is no editor, it failed, or what it left is larger
/// than 8 MiB. `ending`: of the name of its file, by which editors choose
/// colours. `line`: from 1, where editors that are known for "+LINE" begin.
expected<std::string> edit_text(const std::string& text, int terminal_fd,
                                const std::function<bool()>& gave_up,
                                const std::string& ending = ".json",
                                std::size_t line = 1);

/// Runs a command in a shell that has the terminal for itself in the same way.
/// Its exit status; 128 + N: signal N ended it.
expected<int> run_at_terminal(const std::string& command, int terminal_fd,
                              const std::function<bool()>& gave_up);

/// Keeps a text that could not be used in a file of the user's own: its name,
/// or nothing.
std::string keep_text(const std::string& text, const std::string& ending);

}  // namespace riffle::cli
