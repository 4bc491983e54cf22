// SPDX-License-Identifier: MIT
#include "runtime/service/capacity_board.hpp"

#include <algorithm>

namespace riffle::service {

void capacity_board::report(const std::string& model, std::uint32_t most) {
  std::vector<std::shared_ptr<capacity_listener>> told;
  std::uint32_t now = 0;
  {
    const std::lock_guard lock{mutex_};
    const auto before = lowest();
    if (most == 0)
      of_model_.erase(model);
    else
      of_model_[model] = most;
    now = lowest();
    if (now == before) return;
    for (const auto& x : listeners_)
      if (auto alive = x.lock()) told.push_back(std::move(alive));
  }
  for (const auto& x : told) x->on_capacity(now);
}

void capacity_board::add(const std::shared_ptr<capacity_listener>& who) {
  std::uint32_t now = 0;
  {
    const std::lock_guard lock{mutex_};
    std::erase_if(listeners_, [](const auto& x) { return x.expired(); });
    listeners_.push_back(who);
    now = lowest();
  }
  if (now > 0) who->on_capacity(now);
}

std::uint32_t capacity_board::lowest() const {
  std::uint32_t least = 0;
  for (const auto& [model, most] : of_model_)
    least = least == 0 ? most : std::min(least, most);
  return least;
}

}  // namespace riffle::service
