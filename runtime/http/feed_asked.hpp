// SPDX-License-Identifier: MIT
#pragma once

// Where a stream over many runs begins, as its client asks for it.

#include <optional>

#include "runtime/http/feed_tail.hpp"
#include "runtime/http/message.hpp"

namespace riffle::http {

/// `Last-Event-ID` before `?after=`; neither: nothing inside. Nothing at all:
/// it is ill-formed.
std::optional<std::optional<storage::feed_place>> asked_feed_place(
    const request& x);

enum class feed_place_is : std::uint8_t {
  known,    ///< an event of the stream, or of what was deleted since
  beyond,   ///< behind the end
  strange,  ///< no event of the stream: of another one, or never there
};
/// `has`: whose events the stream has. Blocks.
expected<feed_place_is> judge_feed_place(storage::journal& journal,
                                         const storage::feed_place& x,
                                         const feed_filter& has);

}  // namespace riffle::http
