// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace riffle {

/// Where log lines go: stderr, as `text` or as `json` (one object a line).
/// `level`: trace debug info warn error off; an unknown one counts as info.
/// Until it is called nothing below `warn` is written. Thread-safe. Never
/// pass secrets: keys, headers, whole requests.
void init_log(const std::string& level, const std::string& format);

/// `op`: where, e.g. "journal"; `message`: plain words.
void log_debug(std::string_view op, std::string_view message);
void log_info(std::string_view op, std::string_view message);
void log_warn(std::string_view op, std::string_view message);
void log_error(std::string_view op, std::string_view message);

}  // namespace riffle
