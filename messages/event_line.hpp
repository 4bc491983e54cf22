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
  void begin(std::string& out, std::uint64_t seq, std::string_view type);
  void end(std::string& out);

  std::string run_;   ///< `,"run_id":"…","event_type":"`
  std::string time_;  ///< `},"timestamp":"…"}` and the line's end
};

/// Appends `text` as the inside of a JSON string: escapes what must be, and
/// replaces what is not UTF-8 by U+FFFD, so that a line is always valid.
void append_json_escaped(std::string& out, std::string_view text);

/// One line for an event (with '\n').
std::string to_line(const event& x);

/// The reverse of `to_line`; the line end may be missing. Unknown keys are
/// ignored, an unknown event_type, a missing or mistyped key is an error that
/// names it.
expected<event> parse_line(std::string_view line);

}  // namespace riffle
