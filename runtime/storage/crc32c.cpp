// SPDX-License-Identifier: MIT
#include "runtime/storage/crc32c.hpp"

#include <array>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <arm_acle.h>
#include <sys/auxv.h>
#endif

namespace riffle::storage {

namespace {

constexpr std::uint32_t polynomial = 0x82F63B78;  // reflected

using table = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr table make_table() {
  table t{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    auto x = i;
    for (int bit = 0; bit < 8; ++bit)
      x = (x >> 1) ^ ((x & 1) != 0 ? polynomial : 0);
    t[0][i] = x;
  }
  for (std::size_t k = 1; k < t.size(); ++k)
    for (std::uint32_t i = 0; i < 256; ++i)
      t[k][i] = (t[k - 1][i] >> 8) ^ t[0][t[k - 1][i] & 0xFF];
  return t;
}

constexpr table slices = make_table();

std::uint8_t byte(const char* p) { return static_cast<std::uint8_t>(*p); }

std::uint64_t load64(const char* p) {
  std::uint64_t x = 0;
  std::memcpy(&x, p, sizeof x);
  return x;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) std::uint32_t crc32c_hardware(
    std::string_view bytes, std::uint32_t before) noexcept {
  std::uint64_t crc = ~before;
  const char* p = bytes.data();
  auto n = bytes.size();
  for (; n >= 8; n -= 8, p += 8) crc = _mm_crc32_u64(crc, load64(p));
  auto low = static_cast<std::uint32_t>(crc);
  for (; n > 0; --n, ++p) low = _mm_crc32_u8(low, byte(p));
  return ~low;
}

bool has_hardware() { return __builtin_cpu_supports("sse4.2") != 0; }

#elif defined(__aarch64__) && defined(__linux__)

__attribute__((target("+crc"))) std::uint32_t crc32c_hardware(
    std::string_view bytes, std::uint32_t before) noexcept {
  std::uint32_t crc = ~before;
  const char* p = bytes.data();
  auto n = bytes.size();
  for (; n >= 8; n -= 8, p += 8) crc = __crc32cd(crc, load64(p));
  for (; n > 0; --n, ++p) crc = __crc32cb(crc, byte(p));
  return ~crc;
}

bool has_hardware() { return (getauxval(AT_HWCAP) & (1UL << 7)) != 0; }

#else

std::uint32_t crc32c_hardware(std::string_view bytes,
                              std::uint32_t before) noexcept {
  return crc32c_portable(bytes, before);
}

bool has_hardware() { return false; }

#endif

}  // namespace

std::uint32_t crc32c_portable(std::string_view bytes,
                              std::uint32_t before) noexcept {
  std::uint32_t crc = ~before;
  const char* p = bytes.data();
  auto n = bytes.size();
  for (; n >= 8; n -= 8, p += 8) {
    // Byte by byte, so that the result does not depend on endianness.
    const auto a = crc ^ (byte(p) | std::uint32_t{byte(p + 1)} << 8 |
                          std::uint32_t{byte(p + 2)} << 16 |
                          std::uint32_t{byte(p + 3)} << 24);
    crc = slices[7][a & 0xFF] ^ slices[6][(a >> 8) & 0xFF] ^
          slices[5][(a >> 16) & 0xFF] ^ slices[4][a >> 24] ^
          slices[3][byte(p + 4)] ^ slices[2][byte(p + 5)] ^
          slices[1][byte(p + 6)] ^ slices[0][byte(p + 7)];
  }
  for (; n > 0; --n, ++p) crc = (crc >> 8) ^ slices[0][(crc ^ byte(p)) & 0xFF];
  return ~crc;
}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) noexcept {
  static const bool hardware = has_hardware();
  return hardware ? crc32c_hardware(bytes, before)
                  : crc32c_portable(bytes, before);
}

row_crc& row_crc::add(std::string_view part) noexcept {
  add(std::uint64_t{part.size()});
  value_ = crc32c(part, value_);
  return *this;
}

row_crc& row_crc::add(std::uint64_t number) noexcept {
  std::array<char, 8> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(number >> (8 * i));
  value_ = crc32c({bytes.data(), bytes.size()}, value_);
  return *this;
}

}  // namespace riffle::storage
