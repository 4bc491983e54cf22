// SPDX-License-Identifier: MIT
#include "runtime/http/turns.hpp"

#include <utility>
#include <vector>

namespace riffle::http {

void turns::take(const names& of, std::function<void()> f) {
  const auto me = std::make_shared<taker>();
  {
    const std::lock_guard lock{mutex_};
    for (const auto& name : of) {
      auto& queue = queues_[name];
      if (!queue.empty()) ++me->missing;
      queue.push_back(me);
    }
    if (me->missing > 0) {
      me->f = std::move(f);
      return;
    }
  }
  f();
}

void turns::end(const names& of) {
  std::vector<std::function<void()>> ready;
  {
    const std::lock_guard lock{mutex_};
    for (const auto& name : of) {
      const auto at = queues_.find(name);
      if (at == queues_.end()) continue;
      at->second.pop_front();
      if (at->second.empty()) {
        queues_.erase(at);
      } else if (auto& next = *at->second.front(); --next.missing == 0) {
        ready.push_back(std::move(next.f));
      }
    }
  }
  for (const auto& f : ready) f();
}

}  // namespace riffle::http
