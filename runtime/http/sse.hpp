// SPDX-License-Identifier: MIT
#pragma once

// Event lines of the journal as server-sent events (WHATWG HTML, 9.2). LF only,
// an id on every event, never an id alone: six parsers disagree about the rest
// (docs/contract.md). Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/storage/records.hpp"

namespace riffle::http {

/// How the events of a stream are written.
enum class event_format : std::uint8_t {
  sse,
  ndjson,  ///< the journal's lines
  array,   ///< one JSON array
};

/// The member `event_type` of an event's line; empty: it has none.
std::string_view event_type_of(std::string_view line) noexcept;

/// `event: error` is EventSource's own, so that one is told as `run_error`.
std::string_view sse_type_of(std::string_view event_type) noexcept;

/// Whole lines, the first of them with `first_seq`, as frames. `id_prefix`
/// stands before each number: "3-" in the stream of a session.
std::string to_sse(std::string_view lines, std::uint64_t first_seq,
                   std::string_view id_prefix);

/// What a stream begins with: how long its client waits before it reconnects,
/// and behind which id, if it has seen no event by then.
std::string sse_opening(std::uint64_t retry_ms, const std::string& id = {});

/// The id of what stands before all events of a commit, in a stream of many
/// runs.
std::string start_of_commit(std::uint64_t commit);

/// A comment; no client shows it.
inline constexpr std::string_view sse_heartbeat = ":\n\n";

/// "17": at most 15 digits. Nothing: it is none.
std::optional<std::uint64_t> parse_seq(std::string_view text) noexcept;

/// "3-17", of the stream of a session.
struct session_place {
  std::uint64_t ordinal = 0;  ///< of the run in its session, from 1
  std::uint64_t seq = 0;
};
std::optional<session_place> parse_session_place(
    std::string_view text) noexcept;

/// "12.3-17", of a stream over many runs: the journal's order.
std::optional<storage::feed_place> parse_feed_place(
    std::string_view text) noexcept;
/// "12.3-": what stands before the numbers of a run's events there.
std::string feed_prefix(const storage::feed_place& x);

}  // namespace riffle::http
