// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/suspension.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "runtime/cli/terminal/terminal_mode.hpp"

namespace riffle::cli {

namespace {

// What a signal handler may touch.
std::atomic<bool> pressed{false};
static_assert(std::atomic<bool>::is_always_lock_free);

/// Nobody has looked since the press before: this one stops at once, and is
/// done with when the process goes on.
extern "C" void riffle_on_suspend(int) {
  const int saved = errno;
  forget_what_was_typed();
  errno = saved;
  if (!pressed.exchange(true)) return;
  ::raise(SIGSTOP);
  pressed = false;
  errno = saved;
}

void catch_it() {
  struct sigaction action{};
  action.sa_handler = riffle_on_suspend;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGTSTP, &action, nullptr);
}

/// Another thread may be the one that takes the signals: this one waits, so
/// that it draws nothing before.
void wait_until_continued(int before) {
  constexpr auto between = std::chrono::milliseconds{10};
  constexpr int most = 20;
  for (int i = 0; i < most && times_continued() == before; ++i)
    std::this_thread::sleep_for(between);
}

}  // namespace

suspension::suspension() {
  pressed = false;
  ::sigaction(SIGTSTP, nullptr, &before_);
  if (before_.sa_handler != SIG_IGN) catch_it();
}

suspension::~suspension() {
  ::sigaction(SIGTSTP, &before_, nullptr);
  if (pressed.exchange(false)) ::raise(SIGTSTP);
}

bool suspension::asked() const noexcept { return pressed; }

bool is_about_to_stop() noexcept { return pressed; }

/// By the signal's own meaning, which a group that no shell looks after does
/// not have: there it would never go on.
void suspension::stop() {
  const int before = times_continued();
  ::signal(SIGTSTP, SIG_DFL);
  ::raise(SIGTSTP);
  pressed = false;
  catch_it();
  wait_until_continued(before);
}

void stop_group() {
  const int before = times_continued();
  ::kill(0, SIGTSTP);
  wait_until_continued(before);
}

}  // namespace riffle::cli
