// SPDX-License-Identifier: MIT
#pragma once

// The one log of the program, on standard error, one line each. `op` is the
// place in the code's own words ("journal.commit"), as in riffle::error. No
// secrets: whoever logs leaves out keys and tokens, and, above debug, the
// content of conversations.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "messages/time.hpp"

namespace riffle {

struct error;

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

/// Whether lines of this level are written: for what costs to be put together.
bool log_enabled(log_level level) noexcept;

/// What a line is about: "run_id", "run_…". No secrets.
struct log_field {
  std::string_view key{};
  std::string_view value{};
};

struct log_line {
  wall_time at{};
  log_level level = log_level::info;
  std::string_view op{};
  std::string_view message{};
  std::span<const log_field> fields{};
};

/// Gets each line that is bad enough, on the thread that logs, one at a time.
/// Must not log; what it throws is lost.
using log_sink = std::function<void(const log_line&)>;

/// As `render(error)`, with what lower layers said: never for the model.
std::string render_chain(const error& x);

/// Where lines go from now on; nothing: to standard error again. The old sink
/// is not called any more when this returns.
void set_log_sink(log_sink sink);

/// The line as it is configured now, without its end.
std::string render(const log_line& x);

void log_debug(std::string_view op, std::string_view message);
void log_info(std::string_view op, std::string_view message);
void log_warn(std::string_view op, std::string_view message);
void log_error(std::string_view op, std::string_view message);

/// With what it is about, for programs that look for all lines of a run: as
/// members of a JSON line, unless they are empty. A text says it in its words.
void log_about(log_level level, std::string_view op, std::string_view message,
               std::initializer_list<log_field> fields);

/// One line without its end. Text: `<timestamp> <level> <op>: <message>`,
/// control characters replaced by blanks, so that a message is always one
/// line. JSON: an object with `timestamp`, `level`, `op`, `message`.
std::string render_log_line(log_format format, wall_time now, log_level level,
                            std::string_view op, std::string_view message,
                            std::span<const log_field> fields = {});

}  // namespace riffle
