// SPDX-License-Identifier: MIT
#pragma once

// A list that a person chooses from with the arrows; what is typed narrows it.
// Pure: keys in, rows out.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cli/terminal/keys.hpp"

namespace riffle::cli {

class list_picker {
 public:
  /// What a key came to.
  enum class outcome : std::uint8_t { goes_on, chosen, left };

  /// Rows without control characters; at least one. `words`: what more each
  /// row is found by, where it does not show all; as many, or none.
  list_picker(std::string question, std::vector<std::string> rows,
              const std::vector<std::string>& words = {});

  /// The last row leads to more than the list has: it stands behind whatever
  /// is found, and where nothing is.
  [[nodiscard]] list_picker with_way_on() &&;

  outcome on(const key& x);
  /// Which one an Enter chooses; nothing: none is left.
  [[nodiscard]] std::optional<std::size_t> at() const;
  /// Narrower than `columns`, and at most so many `rows`.
  [[nodiscard]] std::vector<std::string> draw(std::size_t columns,
                                              std::size_t rows,
                                              bool color) const;

  /// The same list for a terminal that only writes from left to right.
  [[nodiscard]] std::string numbered() const;
  /// Of the number that was typed there; nothing: it is none of them.
  [[nodiscard]] std::optional<std::size_t> numbered_at(
      std::string_view line) const;

 private:
  void narrow();
  void move(std::ptrdiff_t by);

  std::string question_;
  std::vector<std::string> all_;
  std::vector<std::string> found_by_;
  std::vector<std::size_t> shown_;  ///< of them
  std::size_t at_ = 0;              ///< in `shown_`
  std::string typed_;
  bool way_on_ = false;  ///< see `with_way_on`
};

}  // namespace riffle::cli
