// SPDX-License-Identifier: MIT
#include "runtime/cli/view/question_time.hpp"

#include <algorithm>

#include "runtime/base/text.hpp"

namespace riffle::cli {

void question_time::on(const event& x) {
  if (const auto* asked = std::get_if<events::approval_required>(&x.body)) {
    if (open_.empty()) since_ = x.at;
    open_.insert(asked->proposal);
  }
  const auto* decided = std::get_if<events::approval_resolved>(&x.body);
  if (decided && open_.erase(decided->proposal) > 0 && open_.empty())
    us_ += std::max<std::int64_t>(0, x.at.us - since_.us);
}

std::string question_time::text(std::uint64_t ms) const {
  constexpr std::uint64_t least = 1000;
  const auto waited = std::min(static_cast<std::uint64_t>(us_) / 1000, ms);
  if (waited < least) return {};
  return ", " + short_duration(waited) + " of it waiting for you";
}

}  // namespace riffle::cli
