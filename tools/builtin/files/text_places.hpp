// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace riffle::tools {

/// Where a text stands in a file.
struct text_places {
  std::vector<std::uint64_t> offsets;  ///< in order, without overlap
  std::vector<std::uint64_t> lines;    ///< of the first ones, from 1
  bool overlapping = false;            ///< there is one more that overlaps
  bool all_crlf = false;               ///< each line ends with "\r\n"
  std::uint64_t size = 0;              ///< of the file

  [[nodiscard]] bool unique() const noexcept {
    return offsets.size() == 1 && !overlapping;
  }
};

/// Most places that are looked for; E2BIG if there are more.
inline constexpr std::size_t most_places = 1'000'000;

/// Reads the file from its begin in windows. The error is an errno;
/// ECANCELED: stopped. `text` is not empty.
tl::expected<text_places, int> find_places(int fd, std::string_view text,
                                           const std::stop_token& stop);

/// Each "\n" that has no "\r" before it gets one.
std::string with_crlf(std::string_view text);

/// A change of a file: `before` becomes `after` at each place.
struct text_change {
  std::string before;
  std::string after;
  text_places places;
};

/// Writes the changed content of `from` to `to`. 0 or an errno.
int write_changed(int from, int to, const text_change& change,
                  const std::stop_token& stop);

/// Whether `now` still has the content from which `changed` was made: 0,
/// ESTALE (it has not), or an errno.
int compare_unchanged(int now, int changed, const text_change& change,
                      const std::stop_token& stop);

/// Up to `size` bytes at `offset`. The error is an errno.
tl::expected<std::string, int> read_at(int fd, std::uint64_t offset,
                                       std::size_t size);

}  // namespace riffle::tools
