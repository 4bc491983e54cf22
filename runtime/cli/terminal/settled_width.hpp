// SPDX-License-Identifier: MIT
#pragma once

// When to draw again for another width. A window that is being pulled has many
// of them, and a drawing that is on its way to the terminal meanwhile was made
// for none of those. Pure: time and widths go in.

#include <chrono>
#include <cstddef>

#include "messages/time.hpp"

namespace riffle::cli {

class settled_width {
 public:
  /// So long the width has to stay. tmux tells of a width as much as 250 ms
  /// after it has drawn for it.
  static constexpr duration quiet = std::chrono::milliseconds{300};

  /// The terminal has `columns` now; what stands there was drawn for `shown`.
  bool asks_for_drawing(std::size_t columns, std::size_t shown,
                        time_point now) {
    if (columns != seen_) since_ = now;
    seen_ = columns;
    return columns != shown && now - since_ >= quiet;
  }

 private:
  std::size_t seen_ = 0;
  time_point since_{};
};

}  // namespace riffle::cli
