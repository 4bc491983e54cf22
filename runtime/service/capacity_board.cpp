// SPDX-License-Identifier: MIT
#include "runtime/service/capacity_board.hpp"

#include <utility>

namespace riffle::service {

void capacity_board::report(const std::string& model, std::uint32_t most) {
  std::vector<std::shared_ptr<capacity_listener>> told;
  {
    const std::lock_guard lock{mutex_};
    const auto [known, is_new] = of_model_.try_emplace(model, most);
    if (std::exchange(known->second, most) == most &&
        (!is_new || most == no_limit))
      return;
    for (const auto& x : listeners_)
      if (auto alive = x.lock()) told.push_back(std::move(alive));
  }
  for (const auto& x : told) x->on_capacity(model, most);
}

void capacity_board::expect(const std::string& model, std::uint32_t most) {
  {
    const std::lock_guard lock{mutex_};
    if (of_model_.contains(model)) return;
  }
  report(model, most);
}

void capacity_board::add(const std::shared_ptr<capacity_listener>& who) {
  std::map<std::string, std::uint32_t> now;
  {
    const std::lock_guard lock{mutex_};
    std::erase_if(listeners_, [](const auto& x) { return x.expired(); });
    listeners_.push_back(who);
    now = of_model_;
  }
  for (const auto& [model, most] : now)
    if (most != no_limit) who->on_capacity(model, most);
}

}  // namespace riffle::service
