// SPDX-License-Identifier: MIT
#pragma once

// The one text form of an event: a line of JSON, keys in the contract's
// order, '\n' at its end. The same bytes go into the journal and to readers.

#include <cstdint>
#include <string>
#include <string_view>

#include "messages/error.hpp"
#include "messages/event.hpp"

namespace riffle {

/// Renders events of one run into lines; keeps what does not change between
/// two events. Hot path: `add_text` allocates nothing beyond `out`.
/// Whatever an event holds, its line is valid: text that is not UTF-8 is
/// repaired, a member that should hold JSON and does not is left out (or
/// `null` where the contract has the key always), numbers that are not finite
/// are left out.
class event_writer {
 public:
  explicit event_writer(const run_id& run);

  /// Sets the time of the events that follow.
  void set_time(wall_time now);

  /// Appends one line.
  void add(std::string& out, std::uint64_t seq, const events::body& body);

  /// Appends the line of an `llm_token` (or `llm_reasoning`).
  void add_text(std::string& out, std::uint64_t seq, bool reasoning,
                std::string_view content, std::uint32_t step);

 private:
  void begin(std::string& out, std::uint64_t seq, std::string_view head);

  std::string run_;        ///< `,"run_id":"…","event_type":"`
  std::string token_;      ///< `run_`, type and data up to the content
  std::string reasoning_;  ///< the same
  std::string time_;       ///< `},"timestamp":"…"}` and the line's end
};

/// Appends `text` as the inside of a JSON string: escapes what must be, and
/// replaces what is not UTF-8 by U+FFFD (one for each maximal part of a
/// sequence, as the Unicode standard recommends), so that a line is always
/// valid.
void append_json_escaped(std::string& out, std::string_view text);

/// One line for an event (with '\n').
std::string to_line(const event& x);

/// The reverse of `to_line`; the line end may be missing. Unknown keys are
/// ignored, an unknown event_type, a missing or mistyped key is an error that
/// names it (`storage_corrupt`). Members that hold JSON keep their digits and
/// the order of their keys. Of an error only what a line has comes back: code
/// and message, in `run_finished` and `error` also `op` and `retryable`.
expected<event> parse_line(std::string_view line);

}  // namespace riffle
