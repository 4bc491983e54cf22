// SPDX-License-Identifier: MIT
#pragma once

// People are asked about calls in the model's order, although it is found out
// side by side what the calls would do. Pure.

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "messages/ids.hpp"

namespace riffle::core {

/// `Seen`: what a look at a call found.
template <class Seen>
class ask_order {
 public:
  using ready = std::vector<std::pair<call_id, Seen>>;

  /// Somebody may have to be asked about the call, behind all before it.
  void on_request(const call_id& id) { open_.push_back(id); }

  /// What may be asked now, in order. A call that is not waited for is ready.
  ready on_seen(const call_id& id, Seen x) {
    if (std::ranges::find(open_, id) == open_.end()) {
      ready out;
      out.emplace_back(id, std::move(x));
      return out;
    }
    seen_.insert_or_assign(id, std::move(x));
    return release();
  }

  /// It takes long, or nobody has to be asked any more: the others do not wait
  /// for it.
  ready on_skip(const call_id& id) {
    std::erase(open_, id);
    seen_.erase(id);
    return release();
  }

 private:
  ready release() {
    ready out;
    while (!open_.empty()) {
      auto found = seen_.extract(open_.front());
      if (!found) break;
      open_.pop_front();
      out.emplace_back(found.key(), std::move(found.mapped()));
    }
    return out;
  }

  std::deque<call_id> open_;
  std::map<call_id, Seen> seen_;
};

}  // namespace riffle::core
