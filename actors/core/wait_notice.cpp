// SPDX-License-Identifier: MIT
#include "actors/core/wait_notice.hpp"

#include <chrono>

#include "runtime/base/text.hpp"

namespace riffle::core {

namespace {

constexpr std::string_view begin = "waited ";
constexpr std::string_view end = " for a free worker";

}  // namespace

std::string waited_notice(duration waited) {
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(waited).count();
  std::string out{begin};
  return out.append(short_duration(static_cast<std::uint64_t>(ms))).append(end);
}

bool is_waited_notice(std::string_view message) {
  return message.starts_with(begin) && message.ends_with(end);
}

}  // namespace riffle::core
