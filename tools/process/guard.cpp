// SPDX-License-Identifier: MIT
#include "tools/process/guard.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <set>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/process/guard_launch.hpp"
#include "tools/process/pid_space.hpp"
#include "tools/process/process_tree.hpp"

namespace riffle::tools {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::atomic<bool> main_asks{false};

/// Signals that a tool might send around (`kill -TERM -1`).
constexpr int ignored_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                   SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM};

void close_from(int first) {
  if (::syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  const auto limit = ::sysconf(_SC_OPEN_MAX);  // kernels before 5.9
  for (int fd = first; fd < limit; ++fd) ::close(fd);
}

/// Runs one command and ends when it has no descendants left.
class guard {
 public:
  guard(milliseconds grace, bool own_space)
      : grace_{grace}, own_space_{own_space} {}

  void run(const char* folder, char** command) {
    prepare();
    const auto asked = order();
    if (asked == request::gone) return;
    if (asked == request::end)
      report_.value = SIGTERM;  // never began
    else
      start(folder, command);
    let_go();
    while (reap()) {
      advance();
      wait();
    }
    ::send(guard_channel, &report_, sizeof(report_),
           MSG_NOSIGNAL | MSG_DONTWAIT);
  }

 private:
  enum class phase { running, ending, killing };
  enum class request { none, end, gone };

  void prepare() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::prctl(PR_SET_NAME, "riffle-guard");
    for (const auto signal : ignored_signals) ::signal(signal, SIG_IGN);
    ::signal(SIGCHLD, SIG_DFL);
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child, nullptr);
    for (const auto own : {guard_channel, guard_lock})
      ::fcntl(own, F_SETFD, FD_CLOEXEC);
    close_from(guard_lock + 1);
    child_events_ =
        unique_fd{::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK)};
  }

  /// What the runtime wants, without waiting for it.
  [[nodiscard]] request order() {
    guard_lease asked;
    const auto count =
        ::recv(guard_channel, &asked, sizeof(asked), MSG_DONTWAIT);
    if (count == sizeof(asked) && asked.order == guard_order::lease) {
      lease_end_.reset();
      if (asked.milliseconds >= 0)
        lease_end_ = steady_clock::now() + milliseconds{asked.milliseconds};
      return request::none;
    }
    if (count > 0) return request::end;
    const bool nothing = count < 0 && (errno == EAGAIN || errno == EINTR);
    return nothing ? request::none : request::gone;
  }

  void start(const char* folder, char** command) {
    int report[2] = {-1, -1};
    int status[2] = {-1, -1};
    if (::pipe2(report, O_CLOEXEC) != 0 || ::pipe2(status, O_CLOEXEC) != 0) {
      report_ = {guard_report::what::not_started, errno, 0};
      return;
    }
    const unique_fd in{report[0]};
    unique_fd out{report[1]};
    status_ = unique_fd{status[0]};
    const unique_fd status_out{status[1]};
    const launch tool{folder, command, ::getpid(), out.get()};
    if (own_space_) {
      int mine[] = {in.get(), status_.get()};
      main_ = fork_init(tool, status_out.get(), mine);
      hide();
    } else {
      hide();
      main_ = ::fork();
      if (main_ == 0) tool.run();
    }
    if (main_ < 0)
      report_ = {own_space_ ? guard_report::what::no_space
                            : guard_report::what::not_started,
                 errno, static_cast<int>(space_step::fork)};
    out.reset();
    guard_report why;
    if (::read(in.get(), &why, sizeof(why)) == sizeof(why)) report_ = why;
  }

  /// No other process of the user can trace the guard, nor open its lock by
  /// /proc. Not before the fork of an init: it maps the user's ids.
  static void hide() {
    const int saved = errno;
    ::prctl(PR_SET_DUMPABLE, 0);
    errno = saved;
  }

  /// False when no child is left; as a subreaper: no descendant.
  bool reap() {
    for (;;) {
      int status = 0;
      const auto pid = ::waitpid(-1, &status, WNOHANG);
      if (pid == 0) return true;
      if (pid < 0 && errno != EINTR) return false;
      if (pid != main_) continue;
      main_ = -1;
      read_status();
      if (!known_) on_ended(status);  // an init that told nothing was killed
    }
  }

  /// What a namespace's init says of the tool.
  void read_status() {
    if (!own_space_ || !status_) return;
    guard_report told;
    const auto count = ::read(status_.get(), &told, sizeof(told));
    status_.reset();
    if (count == sizeof(told)) on_ended(told.value);
  }

  /// The tool's first process has ended.
  void on_ended(int status) {
    known_ = true;
    if (report_.kind == guard_report::what::ended) report_.value = status;
    end();
  }

  void end() {
    if (phase_ != phase::running) return;
    phase_ = phase::ending;
    kill_at_ = steady_clock::now() + grace_;
  }

  void advance() {
    if (lease_end_ && steady_clock::now() >= *lease_end_) end();
    if (phase_ == phase::ending && steady_clock::now() >= kill_at_)
      phase_ = phase::killing;
    if (phase_ == phase::ending)
      signal_new_descendants(asked_, {SIGTERM, SIGCONT});
    if (phase_ != phase::killing) return;
    if (own_space_ && main_ > 0)
      ::kill(main_, SIGKILL);  // with its init a namespace ends
    else
      kill_descendants();
  }

  void wait() {
    pollfd fds[] = {{child_events_.get(), POLLIN, 0},
                    {channel_open_ ? guard_channel : -1, POLLIN, 0},
                    {own_space_ ? status_.get() : -1, POLLIN, 0}};
    ::poll(fds, 3, poll_timeout());
    signalfd_siginfo events[8];
    while (::read(child_events_.get(), events, sizeof(events)) > 0) {
    }
    if (fds[2].revents != 0) read_status();
    if (fds[1].revents == 0) return;
    const auto asked = order();
    if (asked == request::gone) channel_open_ = false;
    if (asked != request::none) end();
  }

  [[nodiscard]] int poll_timeout() const {
    if (phase_ == phase::running) {
      if (!lease_end_) return -1;  // the channel's end wakes it
      const auto left =
          std::chrono::ceil<milliseconds>(*lease_end_ - steady_clock::now());
      return static_cast<int>(
          std::clamp<milliseconds::rep>(left.count(), 0, 1000));
    }
    if (phase_ == phase::killing) return 5;
    const auto left =
        std::chrono::ceil<milliseconds>(kill_at_ - steady_clock::now());
    return static_cast<int>(std::clamp<milliseconds::rep>(left.count(), 0, 50));
  }

  const milliseconds grace_;
  const bool own_space_;
  unique_fd child_events_;
  unique_fd status_;
  pid_t main_ = -1;     ///< the tool, or the init of its namespace
  bool known_ = false;  ///< how the tool's first process ended
  guard_report report_;
  phase phase_ = phase::running;
  steady_clock::time_point kill_at_;
  std::optional<steady_clock::time_point> lease_end_;
  std::set<pid_t> asked_;  ///< who got SIGTERM
  bool channel_open_ = true;
};

}  // namespace

int run_guard_if_asked(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], space_probe_argument) == 0)
    probe_space();
  if (argc < 6 || std::strcmp(argv[1], guard_argument) != 0) {
    main_asks = true;
    return -1;
  }
  const bool own_space = std::strcmp(argv[3], guard_own_space) == 0;
  guard{milliseconds{std::atoll(argv[2])}, own_space}.run(argv[4], argv + 5);
  ::_exit(0);  // nothing of the program was set up
}

bool can_be_guard() noexcept { return main_asks; }

}  // namespace riffle::tools
