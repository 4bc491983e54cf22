// SPDX-License-Identifier: MIT
#pragma once

// Runs that a server takes up again, a few at a time.

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "messages/ids.hpp"
#include "messages/time.hpp"

namespace riffle::http {

/// One is known from when it is asked for until the answer is there and it has
/// settled in, or ended: meanwhile nobody asks for it again.
class going_runs {
 public:
  /// How long a run that goes on counts as one of a few at a time, unless it
  /// ends before: what waits, for a person or a key, must not keep the others.
  static constexpr duration settling_in = std::chrono::seconds{2};
  /// So many are asked for without an answer, at least: they hold threads.
  static constexpr std::size_t most_asked = 8;

  /// There is room for one more of `most` at a time.
  [[nodiscard]] bool has_room(std::size_t most, time_point now) const {
    const auto fresh = std::ranges::count_if(
        all_, [&](const auto& x) { return now - x.second.at <= settling_in; });
    const auto asked = std::ranges::count_if(
        all_, [](const auto& x) { return x.second.asked; });
    return static_cast<std::size_t>(fresh) < most &&
           static_cast<std::size_t>(asked) < std::max(most, most_asked);
  }

  [[nodiscard]] bool knows(const run_id& id) const { return all_.contains(id); }

  /// It is asked for now.
  void ask(const run_id& id, time_point now) { all_[id] = {now, true}; }
  /// What became of that is known.
  void answered(const run_id& id) {
    if (const auto i = all_.find(id); i != all_.end()) i->second.asked = false;
  }
  /// It ended, or does not go on. False: it was not one of these.
  bool over(const run_id& id) { return all_.erase(id) > 0; }
  /// Those that count no more; `active`: all that have not ended.
  void look(const std::set<run_id>& active, time_point now) {
    std::erase_if(all_, [&](const auto& x) {
      return !x.second.asked &&
             (now - x.second.at > settling_in || !active.contains(x.first));
    });
  }

 private:
  struct state {
    time_point at;
    bool asked = true;  ///< and there is no answer
  };
  std::map<run_id, state> all_;
};

}  // namespace riffle::http
