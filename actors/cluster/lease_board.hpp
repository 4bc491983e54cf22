// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <mutex>

#include "messages/ids.hpp"
#include "tools/lease.hpp"

namespace riffle {

/// On a node: what the calls of others live by. Thread-safe.
class lease_board {
 public:
  void add(const call_id& call, tools::lease_ptr lease) {
    const std::lock_guard lock{mutex_};
    all_[call] = std::move(lease);
  }
  void remove(const call_id& call) {
    const std::lock_guard lock{mutex_};
    all_.erase(call);
  }
  /// Null: it is a call of this process itself.
  [[nodiscard]] tools::lease_ptr find(const call_id& call) const {
    const std::lock_guard lock{mutex_};
    const auto i = all_.find(call);
    return i == all_.end() ? nullptr : i->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<call_id, tools::lease_ptr> all_;
};

}  // namespace riffle
