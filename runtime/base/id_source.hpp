// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>

#include "messages/ids.hpp"
#include "runtime/base/clock.hpp"

namespace riffle {

/// Makes ids that are unique for ever: `<prefix>_` and a ULID (48 bits of
/// milliseconds, 80 random bits, Crockford's base 32, lower case; the
/// specification at github.com/ulid/spec). Ids made later by one source sort
/// later, also within one millisecond. Thread-safe.
class id_source {
 public:
  /// Random seed from the system.
  id_source();
  /// For tests: a fixed seed and clock give the same ids again.
  id_source(std::uint64_t seed, wall_clock clock);

  template <class Id>
  Id next() {
    if constexpr (std::is_same_v<Id, run_id>)
      return {make("run_")};
    else if constexpr (std::is_same_v<Id, session_id>)
      return {make("ses_")};
    else if constexpr (std::is_same_v<Id, call_id>)
      return {make("call_")};
    else
      return {make("prop_")};
  }

  /// Any prefix, e.g. "own_".
  std::string make(std::string_view prefix);

 private:
  std::mutex mutex_;
  std::mt19937_64 random_;
  wall_clock clock_;
  std::uint64_t last_ms_ = 0;
  std::uint64_t high_ = 0;  ///< 16 random bits
  std::uint64_t low_ = 0;   ///< 64 random bits
};

}  // namespace riffle
