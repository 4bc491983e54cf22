// SPDX-License-Identifier: MIT
#include "runtime/base/descriptor_limit.hpp"

#include <algorithm>
#include <atomic>
#include <sys/resource.h>

namespace riffle {

namespace {

/// Of when the process was started; 0: as it is.
std::atomic<rlim_t> before = 0;

}  // namespace

std::uint64_t raise_descriptor_limit(std::uint64_t wanted) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return 0;
  const auto most = std::min<rlim_t>(files.rlim_max, wanted);
  if (most <= files.rlim_cur) return files.rlim_cur;
  const auto old = files.rlim_cur;
  files.rlim_cur = most;
  if (::setrlimit(RLIMIT_NOFILE, &files) != 0) return old;
  rlim_t none = 0;
  before.compare_exchange_strong(none, old);
  return most;
}

void restore_descriptor_limit(pid_t child) noexcept {
  const rlim_t old = before;
  rlimit files{};
  if (old == 0 || ::prlimit(child, RLIMIT_NOFILE, nullptr, &files) != 0) return;
  files.rlim_cur = std::min(old, files.rlim_max);
  ::prlimit(child, RLIMIT_NOFILE, &files, nullptr);
}

}  // namespace riffle
