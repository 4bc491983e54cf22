// SPDX-License-Identifier: MIT
#include "runtime/base/id_source.hpp"

#include <array>
#include <utility>

namespace riffle {

namespace {

std::uint64_t random_seed() {
  std::random_device source;
  return (std::uint64_t{source()} << 32) ^ source();
}

}  // namespace

id_source::id_source() : id_source{random_seed(), system_wall_time} {}

id_source::id_source(std::uint64_t seed, wall_clock clock)
    : random_{seed}, clock_{std::move(clock)} {}

std::string id_source::make(std::string_view prefix) {
  static constexpr std::string_view digits = "0123456789abcdefghjkmnpqrstvwxyz";
  std::lock_guard lock{mutex_};
  const auto ms = static_cast<std::uint64_t>(clock_().us / 1000);
  if (ms > last_ms_) {
    last_ms_ = ms;
    high_ = random_() & 0xFFFF;
    low_ = random_();
  } else if (++low_ == 0) {
    high_ = (high_ + 1) & 0xFFFF;
  }
  // 130 bits of text for 128 bits of value: the two leading bits are zero.
  std::array<char, 26> text{};
  auto high = (last_ms_ << 16) | high_;
  auto low = low_;
  for (std::size_t i = text.size(); i-- > 0;) {
    text[i] = digits[low & 31];
    low = (low >> 5) | (high << 59);
    high >>= 5;
  }
  std::string result{prefix};
  result.append(text.data(), text.size());
  return result;
}

}  // namespace riffle
