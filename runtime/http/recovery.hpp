// SPDX-License-Identifier: MIT
#pragma once

// Runs and volleys that a server began and that a crash, or its end, cut off:
// they go on in their folder, a few at a time: where one ends, the next begins.
// It is looked for them at the start and now and then, for a process that ends
// slowly lets go of its runs late.

#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "runtime/http/going_runs.hpp"
#include "runtime/http/site.hpp"

namespace riffle::http {

class recovery : public std::enable_shared_from_this<recovery> {
 public:
  /// `at` lives as long as its executors work.
  explicit recovery(site& at) : at_{at} {}

  /// Answers at once; the look is the executor's. Not twice at a time.
  void look();

 private:
  struct found {
    std::vector<run_id> runs;  ///< the oldest first
    std::set<std::string> volleys;
    std::set<std::string> elsewhere;  ///< folders
    std::vector<run_id> over;         ///< whose client waited for them
  };
  void look_now();
  expected<found> find();
  void go_on_with_next();
  void go_on(const run_id& id);
  void answered(const run_id& id, const expected<run_opened>& x);
  /// It cannot go on, unless it has ended meanwhile, which needs no word.
  void refuse(const run_id& id, const error& why);
  /// It ended, or cannot go on here: the next one begins.
  void over(const run_id& id);
  void go_on_volley(const std::string& id);
  void end(const run_id& id);
  void tell_elsewhere(const std::set<std::string>& folders);

  site& at_;
  std::mutex mutex_;
  bool looking_ = false;
  /// Those that the last look found and that have not gone on, oldest first.
  std::deque<run_id> waiting_;
  going_runs going_;
  std::set<std::string> refused_;  ///< runs and volleys that cannot
  std::set<std::string> told_;     ///< folders that were told of
};

}  // namespace riffle::http
