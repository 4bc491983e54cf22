// SPDX-License-Identifier: MIT
#include "actors/core/writing_notice.hpp"

namespace riffle::core {

namespace {

constexpr std::uint64_t kilobyte = 1024;

}  // namespace

void writing_notice::on(const call_fragment& x) {
  const bool begins =
      !x.name.empty() || (x.index.has_value() && *x.index != index_);
  if (begins) {
    name_ = x.name;
    bytes_ = 0;
  }
  if (x.index) index_ = *x.index;
  bytes_ += x.arguments.size();
}

std::optional<std::string> writing_notice::take(time_point now) {
  if (!last_) last_ = now;
  if (now - *last_ < between || bytes_ < kilobyte || name_.empty())
    return std::nullopt;
  last_ = now;
  return writing_call + name_ + " (" + std::to_string(bytes_ / kilobyte) +
         " KB)";
}

}  // namespace riffle::core
