// SPDX-License-Identifier: MIT
#pragma once

// Small helpers for texts that a model or a person reads: those that tools need
// beside the ones of all layers.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"

namespace riffle::tools {

/// Up to three of `candidates` that a person may have meant by `name`, the
/// closest first.
std::vector<std::string> close_names(
    std::string_view name, const std::vector<std::string>& candidates);

/// Makes valid UTF-8 of a stream of bytes: what is not becomes U+FFFD, and a
/// character that is cut between two pieces stays whole.
class utf8_stream {
 public:
  /// Appends what is complete to `out`.
  void feed(std::string_view bytes, std::string& out);

  /// The stream ended: an unfinished character becomes U+FFFD.
  void finish(std::string& out);

  /// Number of replacements so far.
  [[nodiscard]] std::uint64_t replaced() const noexcept { return replaced_; }

 private:
  void step(unsigned char byte, std::string& out);
  void give_up(std::string& out);

  std::array<char, 4> held_{};
  std::uint8_t size_ = 0;     ///< bytes in `held_`
  std::uint8_t need_ = 0;     ///< bytes that still have to come
  unsigned char low_ = 0x80;  ///< bounds of the next byte
  unsigned char high_ = 0xBF;
  std::uint64_t replaced_ = 0;
};

}  // namespace riffle::tools
