// SPDX-License-Identifier: MIT
#pragma once

// When text leaves as an event (publish.batching, publish.flush_delay): one
// small policy for each way. The batcher asks once for each read of the
// network, not for each token.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "messages/time.hpp"

namespace riffle::core {

enum class batching : std::uint8_t {
  token,     ///< every piece at once
  sentence,  ///< at sentence ends; what is left by timer
  adaptive,  ///< at once while text is slow; the faster it comes, the longer
             ///< it is gathered
};

/// What waits: one kind of text.
struct held_text {
  std::string_view bytes;  ///< not empty
  time_point since{};      ///< age of its oldest byte
};

class batch_policy {
 public:
  virtual ~batch_policy() = default;

  /// False: every piece leaves at once, as it is, and nothing else is asked.
  [[nodiscard]] virtual bool holds() const noexcept { return true; }

  /// Text came. Gives back how many bytes at the front leave by what they are,
  /// whatever the time.
  virtual std::size_t ready(std::string_view held, time_point now) = 0;

  /// So many bytes left, by whatever reason.
  virtual void on_left(std::size_t size) = 0;

  /// When all that is held has to leave.
  [[nodiscard]] virtual time_point due(const held_text& x) const = 0;
};

/// `flush_delay`: how long text may wait; at 0 nothing waits.
[[nodiscard]] std::unique_ptr<batch_policy> make_batch_policy(
    batching mode, duration flush_delay);

/// A sentence without an end that is longer than this is cut behind a word.
inline constexpr std::size_t longest_sentence = 2048;

/// One past the last sentence end in `text`, 0 if there is none. Ends: a line
/// break; `.`, `!`, `?` or `…`, then closing quotes or brackets, then a blank;
/// `。`, `！`, `？`; and in a text of `longest_sentence` bytes or more without
/// any of these the last blank, or the end of the text. `from` is where the
/// search starts and is moved to where a search in a longer text has to go on.
[[nodiscard]] std::size_t sentence_cut(std::string_view text,
                                       std::size_t& from) noexcept;

}  // namespace riffle::core
