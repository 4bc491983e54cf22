// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/beside.hpp"

#include <atomic>
#include <csignal>
#include <thread>

namespace riffle::cli {

namespace {

/// Has no destructor: see `do_beside`.
constinit std::atomic<int> at_work{0};

}  // namespace

int at_work_beside() noexcept { return at_work; }

bool do_beside(std::function<void()> work) {
  constexpr int most = 8;
  if (at_work.fetch_add(1) >= most) {
    --at_work;
    return false;
  }
  // Signals are for the threads that expect them.
  sigset_t all{};
  sigset_t before{};
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  bool begun = true;
  try {
    std::thread{[work = std::move(work)]() mutable {
      try {
        work();
        work = nullptr;  // what it holds ends before it counts no more
      } catch (const std::exception&) {
        // Nobody waits for what it would have found.
      }
      --at_work;
    }}.detach();
  } catch (const std::exception&) {
    --at_work;
    begun = false;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return begun;
}

}  // namespace riffle::cli
