// SPDX-License-Identifier: MIT
#pragma once

// The whole output of a call, of any size, in pieces.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "messages/event.hpp"
#include "runtime/cli/terminal/fd_writer.hpp"

namespace riffle::cli {

/// A file if there is one, else a text that is kept elsewhere.
struct whole_output {
  std::filesystem::path file;
  std::string_view text;
};

/// As it is; harmless when `out` is a terminal. False if the file cannot be
/// read to its end or nobody reads.
bool write_text(const whole_output& x, fd_writer& out);

/// As much is an end.
inline constexpr std::size_t longest_end = 16u << 10;

/// Its last `longest_end` bytes; "" if it cannot be read.
std::string end_of(const whole_output& x);

/// Whole lines for a person: its end, if it has more than `most` bytes.
std::string output_lines(const whole_output& x, std::size_t most);

/// The last `most` of such lines, below a line that says so; what a person
/// scrolls back to stays near.
std::string newest_lines(std::string lines, std::size_t most);

/// `head` is a JSON object; it gets the member "output".
bool write_json(const whole_output& x, std::string head, fd_writer& out);

/// {id, tool, outcome, success, duration_ms, error?, metadata?}.
std::string json_head(const events::tool_result& x);

}  // namespace riffle::cli
