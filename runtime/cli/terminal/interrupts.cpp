// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/interrupts.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "runtime/cli/terminal/terminal_mode.hpp"
#include "runtime/cli/view/exit_status.hpp"

namespace riffle::cli {

namespace {

// What a signal handler may touch: lock-free atomics and a pipe.
std::atomic<int> first_signal{0};
std::atomic<bool> has_to_leave{false};
std::atomic<int> times_interrupted{0};
std::atomic<bool> is_lent{false};
std::atomic<int> wake_fd{-1};
std::atomic<bool> hangup_reloads{false};
std::array<int, 2> wake_pipe{-1, -1};
constexpr std::array signals{SIGINT, SIGTERM, SIGHUP, SIGPIPE};
std::array<struct sigaction, signals.size()> old_actions{};

static_assert(std::atomic<int>::is_always_lock_free);

void wake(char what) {
  const int saved = errno;
  if (const int fd = wake_fd.load(); fd >= 0) {
    [[maybe_unused]] const auto n = ::write(fd, &what, 1);
  }
  errno = saved;
}

const char* name_of(int signal) {
  switch (signal) {
    case SIGTERM: return "SIGTERM";
    case SIGHUP: return "SIGHUP";
    default: return "Ctrl-C";
  }
}

extern "C" void riffle_on_signal(int signal) {
  if (signal == SIGPIPE) return;
  if (signal == SIGHUP && hangup_reloads) return wake('h');
  if (signal != SIGINT) {
    has_to_leave = true;
  } else {
    ++times_interrupted;
    const int saved = errno;
    forget_what_was_typed();
    errno = saved;
  }
  int none = 0;
  if (first_signal.compare_exchange_strong(none, signal)) {
    wake('s');
  } else if (signal == SIGINT && !is_lent) {
    leave_terminal();
    ::_exit(interrupted_by_user);
  }
}

}  // namespace

interrupts::interrupts() {
  first_signal = 0;
  has_to_leave = false;
  times_interrupted = 0;
  is_lent = false;
  hangup_reloads = false;
  if (::pipe2(wake_pipe.data(), O_CLOEXEC) != 0) wake_pipe = {-1, -1};
  wake_fd = wake_pipe[1];
  struct sigaction action{};
  action.sa_handler = riffle_on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    ::sigaction(signals[i], &action, &old_actions[i]);
    if (signals[i] == SIGHUP && old_actions[i].sa_handler == SIG_IGN)
      ::sigaction(SIGHUP, &old_actions[i], nullptr);
  }
  listener_ = std::thread{[this] { listen(); }};
}

interrupts::~interrupts() {
  for (std::size_t i = 0; i < signals.size(); ++i) {
    ::sigaction(signals[i], &old_actions[i], nullptr);
  }
  wake('q');
  listener_.join();
  wake_fd = -1;
  for (auto& fd : wake_pipe) ::close(std::exchange(fd, -1));
}

void interrupts::listen() {
  char what = 0;
  while (true) {
    const auto n = ::read(wake_pipe[0], &what, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n != 1 || what == 'q') return;
    if (what == 'h')
      reload();
    else
      tell();
  }
}

void interrupts::tell() {
  const std::lock_guard lock{mutex_};
  if (told_ || !on_stop_) return;
  told_ = true;
  on_stop_(name_of(first_signal));
}

void interrupts::reload() {
  const std::lock_guard lock{mutex_};
  if (on_reload_) on_reload_();
}

void interrupts::on_reload(std::function<void()> f) {
  const std::lock_guard lock{mutex_};
  hangup_reloads = static_cast<bool>(f);
  on_reload_ = std::move(f);
}

void interrupts::on_stop(std::function<void(const char*)> f) {
  {
    const std::lock_guard lock{mutex_};
    on_stop_ = std::move(f);
  }
  if (asked_to_stop()) tell();
}

bool interrupts::asked_to_stop() const noexcept { return first_signal != 0; }

int interrupts::times() const noexcept { return times_interrupted; }

void interrupts::lend(bool on) noexcept { is_lent = on; }

bool interrupts::asked_to_leave() const noexcept { return has_to_leave; }

}  // namespace riffle::cli
