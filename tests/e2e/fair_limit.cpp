// SPDX-License-Identifier: MIT
#include "tests/e2e/fair_limit.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace riffle::testing {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;

namespace {

constexpr auto between_looks = std::chrono::milliseconds{200};

/// A program and all below it; the kernel says which children a thread has.
std::vector<pid_t> family(pid_t root) {
  std::vector<pid_t> all{root};
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::error_code gone;
    const fs::path tasks{"/proc/" + std::to_string(all[i]) + "/task"};
    for (fs::directory_iterator x{tasks, gone}, end; !gone && x != end;
         x.increment(gone)) {
      std::ifstream children{x->path() / "children"};
      for (pid_t child = 0; children >> child;) all.push_back(child);
    }
  }
  return all;
}

/// How long threads of these programs have waited for a core, in sum. Zero
/// where the kernel does not tell: then the clock alone counts.
nanoseconds queued(pid_t root) {
  nanoseconds sum{};
  for (const auto pid : family(root)) {
    std::error_code gone;
    const fs::path tasks{"/proc/" + std::to_string(pid) + "/task"};
    for (fs::directory_iterator x{tasks, gone}, end; !gone && x != end;
         x.increment(gone)) {
      std::ifstream in{x->path() / "schedstat"};
      nanoseconds::rep ran = 0;
      nanoseconds::rep waited = 0;
      if (in >> ran >> waited) sum += nanoseconds{waited};
    }
  }
  return sum;
}

}  // namespace

fair_limit::fair_limit(pid_t program, std::chrono::milliseconds limit)
    : program_{program}, limit_{limit} {}

bool fair_limit::is_over() {
  const auto now = clock::now();
  if (now - last_ >= between_looks) {
    const auto before = queued_;
    queued_ = queued(program_);
    const nanoseconds passed = now - last_;
    // Not all of it, or programs with many busy threads had no limit at all.
    const auto waited = std::max(nanoseconds{}, queued_ - before);
    counted_ += std::max(passed / 10, passed - waited);
    last_ = now;
  }
  return counted_ > limit_;
}

}  // namespace riffle::testing
