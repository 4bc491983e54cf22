// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace riffle::mcp {

/// Lines out of pieces of bytes; any split gives the same lines. Bounded: a
/// line that is longer than the limit kills the reader.
class line_reader {
 public:
  static constexpr std::size_t default_limit = 8u << 20;

  explicit line_reader(std::size_t limit = default_limit) : limit_{limit} {}

  /// Calls `f(std::string_view)` for each line that is complete, without its
  /// end ("\n" or "\r\n"); empty ones are left out. False: a line is beyond the
  /// limit, and nothing is read any more.
  template <class F>
  bool feed(std::string_view bytes, F f) {
    while (!dead_ && !bytes.empty()) {
      const auto end = bytes.find('\n');
      const auto piece = bytes.substr(0, end);
      if (held_.size() + piece.size() > limit_) {
        dead_ = true;
        held_ = {};
        break;
      }
      if (end == std::string_view::npos) {
        held_ += piece;
        break;
      }
      give(piece, f);
      bytes.remove_prefix(end + 1);
    }
    return !dead_;
  }

 private:
  template <class F>
  void give(std::string_view piece, F& f) {
    std::string whole;
    if (!held_.empty()) {
      whole = std::move(held_);
      held_.clear();
      whole += piece;
      piece = whole;
    }
    if (piece.ends_with('\r')) piece.remove_suffix(1);
    if (!piece.empty()) f(piece);
  }

  std::size_t limit_;
  std::string held_;
  bool dead_ = false;
};

}  // namespace riffle::mcp
