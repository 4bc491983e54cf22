// SPDX-License-Identifier: MIT
#pragma once

// What the end of a transfer means. Pure functions.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <curl/curl.h>

#include "messages/error.hpp"
#include "messages/time.hpp"
#include "runtime/model/http_limits.hpp"

namespace riffle::model {

/// What a server said about a failure.
struct server_words {
  std::string message;  ///< valid UTF-8, one line, at most 2 KiB
  bool insufficient_quota = false;
};

/// Finds the words in the body of an answer that is no success: JSON of the
/// known shapes, HTML without its tags, or plain text.
server_words read_server_words(std::string_view body);

/// Replaces what stands in credential headers by `***`.
std::string hide_secrets(std::string text,
                         const std::vector<std::string>& headers);

/// The error of an answer that is no success. `should_retry`: the header
/// `x-should-retry`, or empty.
error status_error(int status, const server_words& words,
                   std::string_view should_retry);

/// The error of a transfer that curl ended. `status` 0: no answer came.
/// `detail`: curl's own words, may be empty.
error curl_error(CURLcode code, int status, std::string_view detail);

/// The error of an answer that is compressed, `how`: nobody asked for that.
error packed_error(std::string_view how);

/// The error of a time limit.
error limit_error(time_limit which, const transport_timeouts& limits);

/// The wait that `retry-after-ms` or else `retry-after` (seconds or HTTP date)
/// asks for, 0 to 24 h; nothing if neither makes sense.
std::optional<duration> read_retry_after(std::string_view milliseconds,
                                         std::string_view seconds_or_date,
                                         wall_time now);

}  // namespace riffle::model
