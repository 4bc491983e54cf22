// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace riffle::http {

/// One at a time for each name: whoever looks first and acts then (is there a
/// run with this key, whose is this session) must not be overtaken.
/// Thread-safe.
class turns {
 public:
  using names = std::set<std::string>;

  /// Calls `f` once all of these are free: now, or by the `end` of those that
  /// came before. Of several takers nobody waits for one who waits for him.
  void take(const names& of, std::function<void()> f);
  /// Those of one `take`, whose `f` was called. Calls who can go on.
  void end(const names& of);

 private:
  struct taker {
    std::size_t missing = 0;  ///< names that others hold
    std::function<void()> f;
  };

  std::mutex mutex_;
  /// The first of each holds the name.
  std::map<std::string, std::deque<std::shared_ptr<taker>>> queues_;
};

}  // namespace riffle::http
