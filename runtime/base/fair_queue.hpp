// SPDX-License-Identifier: MIT
#pragma once

// Who is next when more want a place than there are places.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "messages/time.hpp"

namespace riffle {

/// Who asks for a place: the run that it is for, and how urgent it is.
struct queue_ticket {
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

  /// Its number, for `take`.
  std::uint64_t push(T item, queue_ticket who, time_point now) {
    // A group that was away begins where the others are: no credit for that.
    auto group = groups_.try_emplace(who.group, share{{}, 0, served_}).first;
    const auto arrival = ++arrivals_;
    group->second.lines[who.priority].emplace(
        arrival, entry{std::move(item), now, arrival});
    ++size_;
    return arrival;
  }

  /// The next one, whose group holds one place more from now on; none of a
  /// group that holds `most` places. Looks at the first of each group and
  /// priority only.
  std::optional<T> pop(
      time_point now,
      std::size_t most = std::numeric_limits<std::size_t>::max()) {
    if (size_ == 0) return {};
    share* next = nullptr;
    typename lines_of::iterator line;
    rank_of best;
    for (auto& [name, group] : groups_)
      for (auto i = group.lines.begin();
           group.held < most && i != group.lines.end(); ++i) {
        const auto its = rank(group, i->first, i->second.begin()->second, now);
        if (next != nullptr && best <= its) continue;
        next = &group;
        line = i;
        best = its;
      }
    if (next == nullptr) return {};
    auto item = std::move(line->second.begin()->second.item);
    line->second.erase(line->second.begin());
    if (line->second.empty()) next->lines.erase(line);
    --size_;
    ++next->held;
    served_ = next->served++;
    return item;
  }

  /// A place that `pop` gave to this group is free again.
  void release(const std::string& group) {
    const auto i = groups_.find(group);
    if (i == groups_.end() || i->second.held == 0) return;
    --i->second.held;
    forget_if_idle(i);
  }

  /// Takes out what waits with this number; nothing: it waits no more.
  std::optional<T> take(const queue_ticket& who, std::uint64_t arrival) {
    const auto group = groups_.find(who.group);
    if (group == groups_.end()) return {};
    const auto line = group->second.lines.find(who.priority);
    if (line == group->second.lines.end()) return {};
    auto found = line->second.extract(arrival);
    if (!found) return {};
    if (line->second.empty()) group->second.lines.erase(line);
    --size_;
    forget_if_idle(group);
    return std::move(found.mapped().item);
  }

  /// Drops every item for which `f` is true.
  template <class F>
  void erase_if(F f) {
    for (auto group = groups_.begin(); group != groups_.end();) {
      for (auto& [priority, line] : group->second.lines)
        size_ -= std::erase_if(line, [&](auto& x) { return f(x.second.item); });
      std::erase_if(group->second.lines,
                    [](const auto& x) { return x.second.empty(); });
      const auto i = group++;
      forget_if_idle(i);
    }
  }

  /// Takes all that wait, in the order in which they came.
  std::vector<T> drain() {
    std::vector<entry> all;
    all.reserve(size_);
    for (auto group = groups_.begin(); group != groups_.end();) {
      for (auto& [priority, line] : group->second.lines)
        for (auto& x : line) all.push_back(std::move(x.second));
      group->second.lines.clear();
      const auto i = group++;
      forget_if_idle(i);
    }
    size_ = 0;
    std::ranges::sort(all, {}, &entry::arrival);
    std::vector<T> items;
    items.reserve(all.size());
    for (auto& x : all) items.push_back(std::move(x.item));
    return items;
  }

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  struct entry {
    T item;
    time_point since;
    std::uint64_t arrival;
  };
  using line_of = std::map<std::uint64_t, entry>;    // by arrival
  using lines_of = std::map<std::int32_t, line_of>;  // by priority

  struct share {
    lines_of lines;  ///< what waits, without empty ones
    std::size_t held = 0;
    std::uint64_t served = 0;
  };
  using shares = std::map<std::string, share>;
  using rank_of =
      std::tuple<duration::rep, std::size_t, std::uint64_t, std::uint64_t>;

  /// Smaller goes first.
  static rank_of rank(const share& group, std::int32_t priority, const entry& x,
                      time_point now) {
    return {-(priority + (now - x.since) / ageing), group.held, group.served,
            x.arrival};
  }

  void forget_if_idle(typename shares::iterator i) {
    if (i->second.lines.empty() && i->second.held == 0) groups_.erase(i);
  }

  shares groups_;  ///< that wait or hold a place
  std::size_t size_ = 0;
  std::uint64_t arrivals_ = 0;
  std::uint64_t served_ = 0;  ///< of the group served last, before that
};

}  // namespace riffle
