// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/editor.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <termios.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "runtime/base/unique_fd.hpp"
#include "runtime/cli/terminal/read_text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/run_output.hpp"

extern char** environ;

namespace riffle::cli {

namespace {

constexpr auto look = std::chrono::milliseconds{100};
constexpr int looks_before_kill = 20;

unexpected problem(std::string message) {
  return unexpected{
      error{errc::invalid_request, "editor", std::move(message), false, {}}};
}

/// A file of its own with the text in it; removed by the destructor.
class scratch_file {
 public:
  scratch_file(const std::string& text, const std::string& ending) {
    const char* folder = std::getenv("TMPDIR");
    name_ = std::string{folder && *folder ? folder : "/tmp"} +
            "/riffle-edit-XXXXXX" + ending;
    fd_ = unique_fd{::mkstemps(name_.data(), static_cast<int>(ending.size()))};
    if (!fd_) return;
    made_ = true;
    good_ = ::write(fd_.get(), text.data(), text.size()) ==
            static_cast<ssize_t>(text.size());
  }
  ~scratch_file() {
    if (made_) ::unlink(name_.c_str());
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;

  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  void keep() { made_ = false; }

 private:
  std::string name_;
  unique_fd fd_;
  bool made_ = false;
  bool good_ = false;
};

/// What a program that could not do so itself has to switch off: how it has
/// mouse, focus and pastes told, keys of its own kind, its colours.
constexpr std::string_view leave_its_modes =
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l"
    "\x1b[?1l\x1b>\x1b[0m\x1b[?25h";

/// And its screen. 1049, which all know, gives the cursor back that was kept
/// last: where there is no such screen that is where it is. In tmux it is where
/// the screen before this one was left, so there it is another one.
std::string leave_its_screen() {
  const bool tmux = std::getenv("TMUX") != nullptr;
  return std::string{leave_its_modes} +
         (tmux ? "\x1b[?1047l" : "\0337\x1b[?1049l");
}

/// A terminal that a program gets.
class lent_terminal {
 public:
  /// Does not own `fd`.
  explicit lent_terminal(int fd)
      : fd_{fd}, known_{::tcgetattr(fd, &found_) == 0} {}

  /// It is this process group's, and set as it was found. SIGTTOU would stop
  /// who is not in the foreground. `killed`: who had it.
  void take_back(bool killed) const {
    sigset_t out{};
    sigset_t before{};
    sigemptyset(&out);
    sigaddset(&out, SIGTTOU);
    ::pthread_sigmask(SIG_BLOCK, &out, &before);
    ::tcsetpgrp(fd_, ::getpgrp());
    // Waits for nobody who has to read what was written before.
    if (known_) ::tcsetattr(fd_, TCSANOW, &found_);
    if (killed && can_erase() && has_room()) {
      const auto bytes = leave_its_screen();
      [[maybe_unused]] const auto n = ::write(fd_, bytes.data(), bytes.size());
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

 private:
  [[nodiscard]] bool has_room() const {
    pollfd x{fd_, POLLOUT, 0};
    return ::poll(&x, 1, 0) > 0 && (x.revents & POLLOUT) != 0;
  }

  int fd_;
  termios found_{};
  bool known_;
};

std::string no_editor() {
  for (const char* name : {"VISUAL", "EDITOR"})
    if (const char* set = std::getenv(name); set != nullptr && *set != '\0')
      return std::string{name} + " names \"" + safe_line(set, 100) +
             "\", and there is no such program; for example: export " + name +
             "=nano";
  return "there is no editor; for example: export EDITOR=nano";
}

/// A shell in a process group of its own, in the terminal's foreground.
expected<pid_t> start_shell(std::vector<std::string> words, int terminal_fd) {
  posix_spawnattr_t how{};
  posix_spawn_file_actions_t actions{};
  ::posix_spawnattr_init(&how);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addtcsetpgrp_np(&actions, terminal_fd);
  for (const int fd : {0, 1, 2})
    ::posix_spawn_file_actions_adddup2(&actions, terminal_fd, fd);
  words.insert(words.begin(), {"sh", "-c"});
  std::vector<char*> arguments;
  for (auto& x : words) arguments.push_back(x.data());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int failed =
      ::posix_spawn(&pid, "/bin/sh", &actions, &how, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&how);
  if (failed != 0)
    return problem("it cannot be started: " +
                   std::generic_category().message(failed));
  return pid;
}

/// Asks a process group to end, and kills it if it does not soon.
class ending {
 public:
  explicit ending(pid_t group) : group_{group} {}
  /// To be called at each look.
  void ask() {
    if (asked_++ % looks_before_kill == 0)
      ::kill(-group_, asked_ == 1 ? SIGTERM : SIGKILL);
  }
  [[nodiscard]] bool asked() const noexcept { return asked_ > 0; }
  /// It was killed, too, and had its time.
  [[nodiscard]] bool in_vain() const noexcept {
    return asked_ > 2 * looks_before_kill;
  }

 private:
  pid_t group_;
  int asked_ = 0;
};

/// Whose shell has ended: what it waited for may have the terminal still.
bool is_at_work(pid_t group) {
  while (::waitpid(-group, nullptr, WNOHANG) > 0) continue;
  return ::kill(-group, 0) == 0;
}

/// Its exit status; 128 + N: ended by signal N.
int wait_for(pid_t pid, const std::function<bool()>& gave_up) {
  ending end{pid};
  std::optional<int> ended;
  while (true) {
    int status = 0;
    const auto done = ended ? 0 : ::waitpid(pid, &status, WNOHANG | WUNTRACED);
    if (done < 0 && errno != EINTR) return -1;
    if (done == pid && WIFEXITED(status)) ended = WEXITSTATUS(status);
    if (done == pid && WIFSIGNALED(status)) ended = 128 + WTERMSIG(status);
    if (ended && (!end.asked() || end.in_vain() || !is_at_work(pid)))
      return *ended;
    // Nobody could continue a stopped one: no shell knows it.
    if (done == pid && WIFSTOPPED(status)) ::kill(-pid, SIGCONT);
    if (gave_up()) end.ask();
    std::this_thread::sleep_for(look);
  }
}

/// By a signal at which few tidy up; a Ctrl-C is how servers are ended. Other
/// numbers above 128 are statuses of their own (255: ssh).
bool was_killed(int status) {
  constexpr int by_signal = 128;
  constexpr int last_signal = 64;
  const int signal = status - by_signal;
  return signal > 0 && signal <= last_signal && signal != SIGINT &&
         signal != SIGPIPE;
}

/// What a shell with these words does at the terminal: its exit status. The
/// terminal is as it was found behind it, however that has left it.
expected<int> lend_terminal(std::vector<std::string> words, int fd,
                            const std::function<bool()>& gave_up) {
  const lent_terminal lent{fd};
  const auto pid = start_shell(std::move(words), fd);
  if (!pid) {
    lent.take_back(false);
    return unexpected{pid.error()};
  }
  const int status = wait_for(*pid, gave_up);
  lent.take_back(was_killed(status));
  return status;
}

}  // namespace

std::string keep_text(const std::string& text, const std::string& ending) {
  scratch_file file{text, ending};
  if (!file.good()) return {};
  file.keep();
  return file.name();
}

expected<int> run_at_terminal(const std::string& command, int terminal_fd,
                              const std::function<bool()>& gave_up) {
  return lend_terminal({command}, terminal_fd, gave_up);
}

expected<std::string> edit_text(const std::string& text, int terminal_fd,
                                const std::function<bool()>& gave_up,
                                const std::string& ending, std::size_t line) {
  const scratch_file file{text, ending};
  if (!file.good())
    return problem(file.name() +
                   " cannot be written: set TMPDIR to a folder "
                   "where it can");
  const auto status = lend_terminal(
      // Of what is not there the shell would say so first, in words of its own.
      {R"(f=$1; l=$2; set -- ${VISUAL:-${EDITOR:-editor}}
p=$(command -v "$1") && [ ! -d "$p" ] || exit 127
for e; do :; done
case "$l ${1##*/} $e" in
  "1 "* | *" --") ;;
  *" vi "* | *" vim "* | *" nvim "* | *" nano "* | *" emacs "* | *" micro "*)
    set -- "$@" "+$l" ;;
esac
exec "$@" "$f")",
       "sh", file.name(), std::to_string(line)},
      terminal_fd, gave_up);
  if (!status) return unexpected{status.error()};
  constexpr int not_found = 127;
  if (*status == not_found) return problem(no_editor());
  if (*status != 0) return problem("the editor failed; nothing was changed");
  return read_file(file.name(), "edited text");
}

}  // namespace riffle::cli
