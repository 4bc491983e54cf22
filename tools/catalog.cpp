// SPDX-License-Identifier: MIT
#include "tools/catalog.hpp"

#include <algorithm>
#include <utility>

namespace riffle::tools {

catalog::catalog(std::shared_ptr<const registry> own)
    : own_{std::move(own)}, now_{own_} {}

std::shared_ptr<const registry> catalog::now() const {
  const std::lock_guard lock{mutex_};
  return now_;
}

void catalog::set_remote(std::vector<tool_ptr> all) {
  set(&catalog::remote_, std::move(all));
}

void catalog::set_served(std::vector<tool_ptr> all) {
  set(&catalog::served_, std::move(all));
}

void catalog::set(std::vector<tool_ptr> catalog::* which,
                  std::vector<tool_ptr> all) {
  {
    const std::lock_guard lock{mutex_};
    this->*which = std::move(all);
    auto made = std::make_shared<registry>();
    for (const auto& name : own_->names())
      static_cast<void>(made->add(*own_->find(name)));
    for (const auto& tool : served_) static_cast<void>(made->add(tool));
    for (const auto& tool : remote_) static_cast<void>(made->add(tool));
    now_ = std::move(made);
  }
  changed_.notify_all();
}

bool catalog::has(const std::vector<std::string>& names) const {
  return std::ranges::all_of(
      names, [&](const auto& name) { return now_->find(name) != nullptr; });
}

void catalog::expect_nodes(std::chrono::steady_clock::time_point until) {
  const std::lock_guard lock{mutex_};
  known_by_ = until;
}

void catalog::on_nodes_known() {
  {
    const std::lock_guard lock{mutex_};
    known_by_.reset();
  }
  changed_.notify_all();
}

bool catalog::has_own(const std::string& name) const {
  return own_->find(name) != nullptr;
}

bool catalog::wait_for(const std::vector<std::string>& names, duration limit,
                       const std::stop_token& stop) const {
  if (names.empty()) return true;
  std::unique_lock lock{mutex_};
  const bool there =
      changed_.wait_for(lock, stop, limit, [&] { return has(names); });
  if (known_by_)
    changed_.wait_until(lock, stop, *known_by_, [&] { return !known_by_; });
  return there || has(names);
}

bool catalog::would_wait(const std::vector<std::string>& names) const {
  const std::lock_guard lock{mutex_};
  if (names.empty()) return false;
  return !has(names) ||
         (known_by_ && std::chrono::steady_clock::now() < *known_by_);
}

}  // namespace riffle::tools
