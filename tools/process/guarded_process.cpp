// SPDX-License-Identifier: MIT
#include "tools/process/guarded_process.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <utility>

#include "runtime/base/descriptor_limit.hpp"
#include "runtime/base/log.hpp"
#include "tools/process/orphans.hpp"
#include "tools/process/process_tree.hpp"
#include "tools/process/small_guard.hpp"

namespace riffle::tools {

namespace {

unexpected failure(errc code, std::string message) {
  return unexpected{error{
      .code = code, .op = "process.start", .message = std::move(message)}};
}

unexpected no_resource(const char* what) {
  auto result = failure(errc::tool_execution_error,
                        std::string{"cannot start a process: no "} + what);
  result.value().cause = std::strerror(errno);
  result.value().retryable = true;
  return result;
}

/// A pair of descriptors that no other child inherits. The numbers are high,
/// so that they never lie where the guard's own will be.
struct fd_pair {
  unique_fd mine;
  unique_fd theirs;
};

constexpr int first_high_fd = 16;

constexpr std::chrono::milliseconds look_time{100};
constexpr std::chrono::milliseconds force_after{500};

bool lift(unique_fd& fd) {
  fd = unique_fd{::fcntl(fd.get(), F_DUPFD_CLOEXEC, first_high_fd)};
  return static_cast<bool>(fd);
}

bool make_pipe(fd_pair& out) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  out = {unique_fd{ends[0]}, unique_fd{ends[1]}};
  return ::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 && lift(out.theirs);
}

bool make_channel(fd_pair& out) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return false;
  out = {unique_fd{ends[0]}, unique_fd{ends[1]}};
  return lift(out.theirs);
}

/// posix_spawn's two objects.
struct spawn_plan {
  spawn_plan() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    sigset_t all;
    sigset_t none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID |
                                                POSIX_SPAWN_SETSIGDEF |
                                                POSIX_SPAWN_SETSIGMASK);
  }
  spawn_plan(const spawn_plan&) = delete;
  spawn_plan& operator=(const spawn_plan&) = delete;
  ~spawn_plan() {
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
  }

  void give(int fd, int as) {
    ::posix_spawn_file_actions_adddup2(&actions, fd, as);
  }
  void give_null(int as) {
    ::posix_spawn_file_actions_addopen(&actions, as, "/dev/null", O_RDWR, 0);
  }

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

bool in_own_space(const process_request& request) {
  return request.space == pid_space::own ||
         (request.space == pid_space::automatic &&
          supported_space(request.guard_program).usable);
}

/// A worker: this very program, by the name that only it has in its guard.
bool names_itself(const std::vector<std::string>& command) {
  return !command.empty() && command.front() == this_program;
}

std::vector<std::string> guard_command(const process_request& request) {
  const auto grace = std::chrono::ceil<std::chrono::milliseconds>(
      std::max(request.kill_grace, duration::zero()));
  std::vector<std::string> result = {
      "riffle-guard", guard_argument, std::to_string(grace.count()),
      in_own_space(request) ? guard_own_space : guard_shared_space,
      request.folder.string()};
  result.insert(result.end(), request.command.begin(), request.command.end());
  return result;
}

expected<void> check(const process_request& request) {
  if (request.guard_program == this_program && !can_be_guard())
    return failure(errc::internal,
                   "this program cannot guard processes: its main must call "
                   "riffle::tools::run_guard_if_asked first");
  for (const auto& word : request.command)
    if (word.find('\0') != std::string::npos)
      return failure(errc::invalid_arguments,
                     "the command holds a NUL byte; no program can get one "
                     "as an argument");
  return {};
}

unexpected spawn_failure(int number, const process_request& request) {
  if (number == E2BIG)
    return failure(errc::invalid_arguments,
                   "the command is too long for the system (128 KB); write a "
                   "script file and run that");
  errno = number;
  auto result = no_resource("guard");
  if (number == ENOENT && request.guard_program.starts_with("/proc/"))
    result.value().message +=
        ": " + request.guard_program + " is not there; is /proc mounted?";
  return result;
}

/// Nothing began, and it is locked by us: nobody else may look at it.
void give_up_lock(const process_request& request) {
  if (!request.lock.empty()) ::unlink(request.lock.c_str());
}

/// Locked before anything can act, until the guard ends.
expected<unique_fd> take_lock(const process_request& request) {
  auto lock = lock_for_guard(request.lock);
  if (!lock || lift(*lock)) return lock;
  auto why = no_resource("file descriptors");
  give_up_lock(request);
  return why;
}

}  // namespace

expected<guarded_process> guarded_process::start(
    const process_request& request) {
  if (auto ok = check(request); !ok) return unexpected{std::move(ok).error()};
  fd_pair channel;
  fd_pair out;
  fd_pair err;
  if (!make_channel(channel) || !make_pipe(out) || !make_pipe(err))
    return no_resource("file descriptors");
  spawn_plan plan;
  if (request.input < 0)
    plan.give_null(0);
  else
    plan.give(request.input, 0);
  plan.give(out.theirs.get(), 1);
  plan.give(err.theirs.get(), 2);
  plan.give(channel.theirs.get(), guard_channel);
  unique_fd lock;
  if (request.lock.empty()) {
    plan.give_null(guard_lock);
  } else {
    auto locked = take_lock(request);
    if (!locked) return unexpected{std::move(locked).error()};
    lock = std::move(*locked);
    plan.give(lock.get(), guard_lock);
  }
  guard_start how{.program = request.guard_program,
                  .arguments = guard_command(request),
                  .environment = request.environment,
                  .actions = &plan.actions,
                  .attributes = &plan.attributes,
                  .itself = names_itself(request.command)};
  guarded_process result;
  const auto starting = live_guards::starting();
  const auto number = spawn_guard(result.pid_, std::move(how));
  if (number != 0) {
    result.pid_ = -1;
    give_up_lock(request);
    return spawn_failure(number, request);
  }
  restore_descriptor_limit(result.pid_);
  live_guards::add(result.pid_);
  result.started_ = start_time(result.pid_);
  result.grace_ = request.kill_grace;
  result.lock_ = std::move(lock);
  result.channel_ = std::move(channel.mine);
  result.live_by(request.lease);
  result.out = std::move(out.mine);
  result.err = std::move(err.mine);
  return result;
}

guarded_process::guarded_process(guarded_process&& other) noexcept
    : out{std::move(other.out)},
      err{std::move(other.err)},
      channel_{std::move(other.channel_)},
      lock_{std::move(other.lock_)},
      pid_{std::exchange(other.pid_, -1)},
      started_{other.started_},
      grace_{other.grace_},
      lease_{std::move(other.lease_)},
      next_look_{other.next_look_},
      force_at_{other.force_at_} {}

guarded_process::~guarded_process() {
  channel_.reset();
  if (pid_ <= 0) return;
  ::kill(pid_, SIGCONT);
  if (::waitpid(pid_, nullptr, WNOHANG) > 0) live_guards::remove(pid_);
}

void guarded_process::ask_end() noexcept {
  const auto order = guard_order::end;
  ::send(channel_.get(), &order, sizeof(order), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (!force_at_) force_at_ = clock::now() + grace_ + force_after;
  next_look_ = {};
  look_after();
}

void guarded_process::live_by(lease_ptr x) {
  const bool had = static_cast<bool>(lease_);
  lease_ = std::move(x);
  if (lease_) return hand_on_lease();
  if (!had) return;
  const guard_lease none;
  ::send(channel_.get(), &none, sizeof(none), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// A message that does not fit is followed by another one soon.
void guarded_process::hand_on_lease() noexcept {
  if (!lease_) return;
  const auto left = std::chrono::floor<std::chrono::milliseconds>(
      lease_->until() - clock::now());
  guard_lease order;
  order.milliseconds = std::max<std::int64_t>(left.count(), 0);
  ::send(channel_.get(), &order, sizeof(order), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void guarded_process::look_after() {
  const auto now = clock::now();
  if (pid_ <= 0 || now < next_look_) return;
  next_look_ = now + look_time;
  if (!force_at_) hand_on_lease();
  if (force_at_ && now >= *force_at_) kill_descendants_of(pid_);
  ::kill(pid_, SIGCONT);
}

/// What the guard reported before it ended. An order that it has not read makes
/// its end an error (ECONNRESET), which comes once, and before the report.
std::optional<guard_report> guarded_process::read_report() const {
  guard_report report;
  bool was_reset = false;
  for (;;) {
    const auto count = ::recv(channel_.get(), &report, sizeof(report), 0);
    if (count == sizeof(report)) return report;
    const bool again =
        count < 0 && (errno == EINTR ||
                      (errno == ECONNRESET && !std::exchange(was_reset, true)));
    if (!again) return std::nullopt;
  }
}

std::optional<guard_report> guarded_process::finish() {
  const auto report = read_report();
  int status = 0;
  do {
    if (pid_ > 0) ::kill(pid_, SIGCONT);
  } while (pid_ > 0 &&
           (::waitpid(pid_, &status, WUNTRACED) < 0 ? errno == EINTR
                                                    : WIFSTOPPED(status)));
  live_guards::remove(pid_);
  pid_ = -1;
  if (!report && !end_orphans(started_)) {
    log_warn("process",
             "what a killed guard left does not end; its lock is kept until "
             "this process ends");
    static_cast<void>(lock_.release());
  }
  lock_.reset();
  return report;
}

}  // namespace riffle::tools
