// SPDX-License-Identifier: MIT
#pragma once

// How a conversation fits the model (models.*.context_window): near the limit
// old tool outputs are replaced by short notes, the oldest first.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "messages/attachment.hpp"

namespace riffle::core {

/// About how many tokens a text has: a quarter of one for each ASCII byte
/// ("1 token ~= 4 chars in English", OpenAI, What are tokens and how to count
/// them), half of one for each other byte, since other scripts take one to two
/// tokens a character of two to four bytes. The same text always gives the
/// same number.
[[nodiscard]] std::uint64_t estimate_tokens(std::string_view text) noexcept;

/// About how many tokens a picture or a file costs: providers scale pictures
/// down to about this much, and a page of a document costs as much as one.
[[nodiscard]] std::uint64_t estimate_file_tokens(const attachment& x) noexcept;

/// Tokens of a tool's output as it was told, and of the note instead of it.
struct told_output {
  std::uint64_t tokens = 0;
  std::uint64_t note_tokens = 0;

  bool operator==(const told_output&) const = default;
};

/// Over three quarters of the window.
[[nodiscard]] bool needs_room(std::uint64_t window,
                              std::uint64_t used) noexcept;

/// How many outputs from the front of `old` have to go: none below three
/// quarters of the window; then so many that half of it is free, as far as
/// there are any, so that the next requests find their beginning unchanged
/// (providers cache it). `used`: tokens of the whole. A pure function of what
/// was said, so a recovered run makes the same requests.
[[nodiscard]] std::size_t outputs_to_trim(std::uint64_t window,
                                          std::uint64_t used,
                                          const std::vector<told_output>& old);

/// Instead of an output.
[[nodiscard]] std::string trim_note(std::string_view tool,
                                    std::string_view arguments,
                                    std::uint64_t bytes);

/// So full that a request with its notes would not be made.
[[nodiscard]] bool is_full(std::uint64_t window, std::uint64_t used) noexcept;

/// How much is used at most after room was made in what was full.
[[nodiscard]] std::uint64_t wanted_use(std::uint64_t window) noexcept;

/// Shorter texts stay whole.
inline constexpr std::size_t least_shortened = 2000;

/// Instead of a long text of an earlier task: how it begins and ends.
[[nodiscard]] std::string shortened(std::string_view text);

/// Instead of the tasks with which a conversation began.
[[nodiscard]] std::string forgotten_note(std::size_t tasks);

/// What was done to make room.
struct made_room {
  std::size_t outputs = 0;  ///< of tools, and files
  std::size_t texts = 0;    ///< long ones of earlier tasks, shortened
  std::size_t tasks = 0;    ///< earlier ones that are told no more

  bool operator==(const made_room&) const = default;
  explicit operator bool() const noexcept {
    return outputs > 0 || texts > 0 || tasks > 0;
  }
};

/// "2 old tool outputs left out, 1 long text of earlier tasks shortened"
[[nodiscard]] std::string room_text(const made_room& x);

/// Whether a `status` says that words of people or of the model are told no
/// more.
[[nodiscard]] bool is_forgetting(std::string_view status) noexcept;

inline constexpr std::string_view room_was_made = "made room: ";

}  // namespace riffle::core
