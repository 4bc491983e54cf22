// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "messages/call.hpp"

namespace riffle {

/// A text of any length, read from its begin. One reader.
class output_stream {
 public:
  virtual ~output_stream() = default;
  /// Up to `most` bytes; empty: that was all, or the rest cannot be read.
  virtual std::string next(std::size_t most) = 0;
  /// Whether nothing was left that could not be read.
  [[nodiscard]] virtual bool whole() const { return true; }
};

using output_stream_ptr = std::shared_ptr<output_stream>;

/// Where the result says that its whole output is kept: it is not.
void say_it_is_cut(call_result& x);

}  // namespace riffle
