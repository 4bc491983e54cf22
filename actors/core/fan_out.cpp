// SPDX-License-Identifier: MIT
#include "actors/core/fan_out.hpp"

#include <algorithm>

namespace riffle::core {

reader_state fan_out::attach(subscriber_id sub, std::uint64_t after_seq,
                             std::uint64_t acked_seq) {
  const auto how =
      after_seq >= acked_seq ? reader_state::live : reader_state::behind;
  subs_[sub] = {how, after_seq};
  return how;
}

bool fan_out::takes(place& x, std::uint64_t first, std::uint64_t last) {
  if (x.how != reader_state::live || last <= x.has) return false;
  if (first > x.has + 1) {
    // Only if the caller broke the rule on gaps: better late than a hole.
    x.how = reader_state::behind;
    return false;
  }
  x.has = last;
  return true;
}

void fan_out::on_refused(subscriber_id sub) {
  if (const auto i = subs_.find(sub); i != subs_.end())
    i->second.how = reader_state::behind;
}

void fan_out::detach(subscriber_id sub) { subs_.erase(sub); }

std::size_t fan_out::live() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      subs_, [](const auto& x) { return x.second.how == reader_state::live; }));
}

}  // namespace riffle::core
