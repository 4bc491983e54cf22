// SPDX-License-Identifier: MIT
#pragma once

// Who is next when more want a place than there are places.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "messages/time.hpp"

namespace riffle {

/// Who asks for a place: the run that it is for, and how urgent it is.
struct claim {
  std::string group;  ///< groups share the places evenly; a run's id
  std::int32_t priority = 0;
};

/// What waits, and who is next: the highest priority first, where each
/// `ageing` of waiting counts as one priority more, so that nothing waits for
/// ever; among equals the group that holds the fewest places, then the one that
/// was served least (as in start-time fair queueing: Goyal, Vin and Cheng,
/// 1997), so that no group keeps others out; then what came first. Pure; its
/// owner bounds what it puts in. Not thread safe.
template <class T>
class fair_queue {
 public:
  static constexpr duration ageing = std::chrono::seconds{5};

  void push(T item, claim who, time_point now) {
    // A group that was away begins where the others are: no credit for that.
    auto group = groups_.try_emplace(who.group, share{0, 0, served_}).first;
    ++group->second.waiting;
    waiting_.push_back({std::move(item), std::move(who), now});
  }

  /// The next one, whose group holds one place more from now on.
  std::optional<T> pop(time_point now) {
    if (waiting_.empty()) return {};
    const auto next =
        std::ranges::min_element(waiting_, [&](const auto& a, const auto& b) {
          return rank(a, now) < rank(b, now);
        });
    auto item = std::move(next->item);
    auto& group = groups_.at(next->who.group);
    --group.waiting;
    ++group.held;
    served_ = group.served++;
    waiting_.erase(next);
    return item;
  }

  /// A place that `pop` gave to this group is free again.
  void release(const std::string& group) {
    const auto i = groups_.find(group);
    if (i == groups_.end() || i->second.held == 0) return;
    --i->second.held;
    forget_if_idle(i);
  }

  /// Drops every item for which `f` is true.
  template <class F>
  void erase_if(F f) {
    std::erase_if(waiting_, [&](auto& x) {
      if (!f(x.item)) return false;
      leave(x.who.group);
      return true;
    });
  }

  /// Takes all that wait, in the order in which they came.
  std::vector<T> drain() {
    std::vector<T> all;
    all.reserve(waiting_.size());
    for (auto& x : waiting_) {
      all.push_back(std::move(x.item));
      leave(x.who.group);
    }
    waiting_.clear();
    return all;
  }

  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }

 private:
  struct entry {
    T item;
    claim who;
    time_point since;
  };

  struct share {
    std::size_t waiting = 0;
    std::size_t held = 0;
    std::uint64_t served = 0;
  };
  using shares = std::map<std::string, share>;

  /// Smaller goes first; equal ranks go in the order of coming.
  [[nodiscard]] auto rank(const entry& x, time_point now) const {
    const auto& group = groups_.at(x.who.group);
    return std::tuple{-(x.who.priority + (now - x.since) / ageing), group.held,
                      group.served};
  }

  void leave(const std::string& group) {
    const auto i = groups_.find(group);
    --i->second.waiting;
    forget_if_idle(i);
  }

  void forget_if_idle(typename shares::iterator i) {
    if (i->second.waiting == 0 && i->second.held == 0) groups_.erase(i);
  }

  std::vector<entry> waiting_;  ///< in the order of coming
  shares groups_;               ///< that wait or hold a place
  std::uint64_t served_ = 0;    ///< of the group served last, before that
};

}  // namespace riffle
