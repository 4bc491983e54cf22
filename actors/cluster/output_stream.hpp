// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace riffle {

/// A text of any length, read from its begin. One reader.
class output_stream {
 public:
  virtual ~output_stream() = default;
  /// Up to `most` bytes; empty: that was all, or the rest cannot be read.
  virtual std::string next(std::size_t most) = 0;
};

using output_stream_ptr = std::shared_ptr<output_stream>;

}  // namespace riffle
