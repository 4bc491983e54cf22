// SPDX-License-Identifier: MIT
#include "tools/process/orphans.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tools/process/process_tree.hpp"

namespace riffle::tools {

namespace {

constexpr std::chrono::seconds longest_end{5};

std::atomic<bool> adopts{false};

struct guards {
  std::shared_mutex starting;  // shared: a start; unique: the hunt
  std::mutex mutex;
  std::set<pid_t> pids;
};

guards& all_guards() {
  static auto* const x = new guards;  // threads may outlive statics
  return *x;
}

bool is_guard(pid_t pid) {
  auto& all = all_guards();
  const std::lock_guard lock{all.mutex};
  return all.pids.count(pid) != 0;
}

std::vector<pid_t> find_orphans(unsigned long long since) {
  auto out = children();
  std::erase_if(out, [since](pid_t pid) {
    // A program of ours (an editor) stays in our session, a tool never does.
    return is_guard(pid) || ::getsid(pid) == ::getsid(0) ||
           start_time(pid) < since;
  });
  return out;
}

}  // namespace

void adopt_orphans() noexcept {
  adopts = ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

std::shared_lock<std::shared_mutex> live_guards::starting() {
  return std::shared_lock{all_guards().starting};
}

void live_guards::add(pid_t guard) {
  auto& all = all_guards();
  const std::lock_guard lock{all.mutex};
  all.pids.insert(guard);
}

void live_guards::remove(pid_t guard) {
  auto& all = all_guards();
  const std::lock_guard lock{all.mutex};
  all.pids.erase(guard);
}

bool end_orphans(unsigned long long since) {
  if (!adopts) return true;
  const std::lock_guard hunt{all_guards().starting};
  const auto deadline = std::chrono::steady_clock::now() + longest_end;
  for (;;) {
    const auto found = find_orphans(since);
    if (found.empty()) return true;
    kill_trees(found);
    for (const auto pid : found) ::waitpid(pid, nullptr, WNOHANG);
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

}  // namespace riffle::tools
