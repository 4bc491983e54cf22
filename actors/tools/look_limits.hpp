// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <string>

#include "messages/error.hpp"

namespace riffle {

/// A look at a call that takes so long is said in the log …
constexpr auto look_late = std::chrono::seconds{10};
/// … and one that takes so long ends its calls: a tool hangs, a disk does, or
/// all threads of looks do.
constexpr auto look_limit = std::chrono::minutes{2};

inline error not_looked_at(const char* op, const std::string& tool) {
  return {errc::timeout, op,
          "what it would do could not be looked at within 2 minutes, so it was "
          "not executed: the tool `" +
              tool +
              "` or the file system does not answer, or other tools that hang "
              "keep all threads"};
}

}  // namespace riffle
