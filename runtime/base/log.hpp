// SPDX-License-Identifier: MIT
#pragma once

// The program's log on stderr, one line each. `op` is the place in the code's
// own words ("journal.commit"), as in riffle::error. No secrets: whoever logs
// leaves out keys, tokens and the content of conversations.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "messages/time.hpp"

namespace riffle {

enum class log_level : std::uint8_t { trace, debug, info, warn, error, off };
enum class log_format : std::uint8_t { text, json };

std::string_view to_string(log_level x) noexcept;

/// The values of `runtime.log.level` and `runtime.log.format`.
std::optional<log_level> parse_log_level(std::string_view text) noexcept;
std::optional<log_format> parse_log_format(std::string_view text) noexcept;

/// What is logged from now on, and how. A text that is no level means info,
/// one that is no format means text (the configuration has refused both
/// before). Before the first call: nothing below warn, as text. Thread-safe,
/// as all here.
void init_log(std::string_view level, std::string_view format);

void log_debug(std::string_view op, std::string_view message);
void log_info(std::string_view op, std::string_view message);
void log_warn(std::string_view op, std::string_view message);
void log_error(std::string_view op, std::string_view message);

/// One line without its end. Text: `<timestamp> <level> <op>: <message>`,
/// control characters replaced by blanks, so that a message is always one
/// line. JSON: an object with `timestamp`, `level`, `op`, `message`.
std::string render_log_line(log_format format, wall_time now, log_level level,
                            std::string_view op, std::string_view message);

}  // namespace riffle
