// SPDX-License-Identifier: MIT
#pragma once

// Small helpers for texts that a model or a person reads.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::tools {

/// The longest prefix of at most `limit` bytes that ends at a character's
/// border. `text` is UTF-8.
std::string_view cut_utf8(std::string_view text, std::size_t limit) noexcept;

/// At most `limit` bytes of a text, and "…" if that is not all.
std::string with_dots(std::string_view text, std::size_t limit);

/// The longest suffix of at most `limit` bytes that begins at a border.
std::string_view tail_utf8(std::string_view text, std::size_t limit) noexcept;

/// "512 B", "1.3 KB", "5.0 MB": 1 KB is 1024 bytes.
std::string human_size(std::uint64_t bytes);

/// Inserted, deleted and replaced bytes between two names (Levenshtein). Of
/// longer texts only the first 128 bytes count.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Up to three of `candidates` that a person may have meant by `name`, the
/// closest first.
std::vector<std::string> close_names(
    std::string_view name, const std::vector<std::string>& candidates);

/// "a, b, c", at most `limit` of them, then "and 7 more".
std::string join_some(const std::vector<std::string>& names, std::size_t limit);

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
