// SPDX-License-Identifier: MIT
#include "runtime/http/run_room.hpp"

#include <algorithm>

#include "runtime/base/log.hpp"

namespace riffle::http {

bool run_room::look(bool takes) {
  constexpr auto fresh = std::chrono::milliseconds{200};
  if (most_ == 0) return true;
  // Whoever comes meanwhile waits for the same count.
  const std::lock_guard lock{mutex_};
  const auto now = std::chrono::steady_clock::now();
  if (now - counted_at_ >= fresh) {
    under_way_ = count();
    counted_at_ = now;
  }
  if (under_way_ >= most_) return false;
  if (takes) ++under_way_;
  return true;
}

/// Of a journal that cannot be read: none, since nothing will begin either.
std::size_t run_room::count() const {
  const auto all = sessions_.unfinished(most_ + 1);
  if (!all) {
    log_warn("server",
             "the runs under way cannot be counted: " + render(all.error()));
    return 0;
  }
  return static_cast<std::size_t>(std::ranges::count_if(
      *all, [](auto& x) { return x.owner == storage::run_owner::here; }));
}

}  // namespace riffle::http
