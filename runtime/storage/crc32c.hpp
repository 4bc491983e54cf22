// SPDX-License-Identifier: MIT
#pragma once

// CRC32C (Castagnoli), RFC 3720 appendix B.4.

#include <cstdint>
#include <string_view>

namespace riffle::storage {

/// The checksum of `bytes`, going on from the checksum of what stands before
/// them (0: nothing). Uses the processor's instruction where there is one.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0) noexcept;

/// The same by a table, for processors without the instruction.
std::uint32_t crc32c_portable(std::string_view bytes,
                              std::uint32_t before = 0) noexcept;

/// Checksum of a row: its parts with their lengths, so that bytes cannot move
/// from one part to the next unseen.
class row_crc {
 public:
  row_crc& add(std::string_view part) noexcept;
  row_crc& add(std::uint64_t number) noexcept;
  [[nodiscard]] std::uint32_t value() const noexcept { return value_; }

 private:
  std::uint32_t value_ = 0;
};

}  // namespace riffle::storage
