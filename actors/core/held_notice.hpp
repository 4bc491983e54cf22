// SPDX-License-Identifier: MIT
#pragma once

// What is said of a request that is not sent yet, or was not taken, since the
// server of the model wants fewer.

#include <optional>
#include <string>
#include <string_view>

#include "messages/time.hpp"

namespace riffle::core {

inline constexpr std::string_view waiting_for_model = "waiting for the model";
inline constexpr std::string_view held_back =
    "held back by the model's rate limit";

/// The text of a `status`: "held back by the model's rate limit, next in 6s";
/// `next`: until it may be sent at the earliest, if that is known.
std::string held_notice(std::optional<duration> next);

/// What that text says; nothing: it is another one.
struct held_words {
  std::optional<duration> next;
};
std::optional<held_words> read_held_notice(std::string_view status);

/// Whether this reason of a `retry` says that the server refused the request
/// for its rate: nothing failed.
bool is_rate_refusal(std::string_view reason);

}  // namespace riffle::core
