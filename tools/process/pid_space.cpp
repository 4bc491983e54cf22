// SPDX-License-Identifier: MIT
#include "tools/process/pid_space.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string_view>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "runtime/base/unique_fd.hpp"
#include "tools/process/process_tree.hpp"

namespace riffle::tools {

namespace {

constexpr const char* proc = "/proc";
constexpr unsigned long proc_flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;

constexpr std::array step_texts{
    "",
    "cannot make a PID namespace",
    "the guard has gone",
    "cannot map the user's ids",
    "cannot make the mounts private",
    "cannot hide the old /proc",
    "cannot mount a fresh /proc",
    "the fresh /proc shows others",
    "cannot start a process",
};

space_failure failed(space_step step) { return {step, errno}; }

bool write_file(const char* file, const std::string& text) {
  const unique_fd fd{::open(file, O_WRONLY | O_CLOEXEC)};
  return fd && ::write(fd.get(), text.data(), text.size()) ==
                   static_cast<ssize_t>(text.size());
}

std::string slurped(const char* file) {
  std::string out;
  std::array<char, 4096> buffer{};
  const unique_fd fd{::open(file, O_RDONLY | O_CLOEXEC)};
  if (!fd) return out;
  for (;;) {
    const auto count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count <= 0) return out;
    out.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

/// Each id is mapped to itself, so files belong to whom they belonged.
bool map_ids(uid_t user, gid_t group) {
  const auto line = [](auto id) {
    return std::to_string(id) + ' ' + std::to_string(id) + " 1";
  };
  return write_file("/proc/self/setgroups", "deny") &&
         write_file("/proc/self/uid_map", line(user)) &&
         write_file("/proc/self/gid_map", line(group));
}

/// "\040" -> " "
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      out += static_cast<char>((text[i + 1] - '0') * 64 +
                               (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

/// Where a /proc is mounted, in the order of the mounts.
std::vector<std::string> proc_places() {
  std::vector<std::string> out;
  const auto text = slurped("/proc/self/mountinfo");
  std::string_view rest = text;
  while (!rest.empty()) {
    auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const auto end = line.find(" - ");
    if (end == line.npos || !line.substr(end + 3).starts_with("proc "))
      continue;
    for (int i = 0; i < 4; ++i)  // the place is the fifth word
      line.remove_prefix(std::min(line.find(' ') + 1, line.size()));
    out.push_back(unescaped(line.substr(0, line.find(' '))));
  }
  return out;
}

bool shows_processes(const std::string& place) {
  return ::access((place + "/self/stat").c_str(), F_OK) == 0 ||
         ::access((place + "/uptime").c_str(), F_OK) == 0;
}

/// Root may unmount later what is mounted now, so the old one goes first.
bool unmount_all(const std::vector<std::string>& places) {
  for (auto x = places.rbegin(); x != places.rend(); ++x)
    ::umount2(x->c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
  for (const auto& x : places)
    if (shows_processes(x)) {
      errno = EBUSY;
      return false;
    }
  return true;
}

/// Another user's /proc below ours is locked by the kernel: nobody in here or
/// in a namespace below can take off what lies over it.
bool cover_all(const std::vector<std::string>& places) {
  for (const auto& x : places) {
    if (x == proc || x.starts_with("/proc/") || !shows_processes(x)) continue;
    if (::mount(proc, x.c_str(), "proc", proc_flags, nullptr) != 0)
      return false;
  }
  return true;
}

bool sees_only_itself() {
  char text[16] = {};
  const auto length = ::readlink("/proc/self", text, sizeof(text) - 1);
  return length == 1 && text[0] == '1' && descendants().empty();
}

/// The command's place in the probe: the second process, and for root what
/// `umount` leaves.
void look_around(bool root) {
  if (::getpid() != 2 || ::getppid() != 1) ::_exit(EINVAL);
  if (::kill(1, SIGSTOP) != 0) ::_exit(errno);  // has no effect
  if (root && ::umount2(proc, MNT_DETACH) == 0 && shows_processes(proc))
    ::_exit(EBUSY);
  ::_exit(0);
}

space_failure probe_in_space(uid_t user, gid_t group, int parent_end) {
  if (const auto x = settle_in_space(user, group, parent_end); x.number != 0)
    return x;
  const auto child = ::fork();
  if (child == 0) look_around(user == 0);
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child)
    return failed(space_step::command);
  if (!WIFEXITED(status)) return {space_step::command, EINTR};
  return {space_step::look, WEXITSTATUS(status)};
}

}  // namespace

std::string to_text(const space_failure& x) {
  if (x.number == 0) return {};
  return std::string{step_texts.at(static_cast<std::size_t>(x.step))} + ": " +
         std::strerror(x.number);
}

pid_t fork_into_space() {
  long flags = CLONE_NEWPID | CLONE_NEWNS | SIGCHLD;
  if (::geteuid() != 0) flags |= CLONE_NEWUSER;
  // Without a stack of its own, so the order of the arguments is no matter.
  return static_cast<pid_t>(
      ::syscall(SYS_clone, flags, nullptr, nullptr, nullptr, nullptr));
}

space_failure settle_in_space(uid_t user, gid_t group, int parent_end) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd parent{parent_end, 0, 0};  // getppid() is 0 in here
  if (::poll(&parent, 1, 0) != 0) return {space_step::parent, EPIPE};
  if (user != 0 && !map_ids(user, group)) return failed(space_step::ids);
  // Not private: what an automounter mounts for the command must be seen.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
    return failed(space_step::mounts);
  const auto places = proc_places();
  if (user == 0 && !unmount_all(places)) return failed(space_step::old_proc);
  if (::mount(proc, proc, "proc", proc_flags, nullptr) != 0)
    return failed(space_step::proc);
  if (user != 0 && !cover_all(places)) return failed(space_step::old_proc);
  if (!sees_only_itself()) return {space_step::look, EBUSY};
  return {};
}

void probe_space() {
  int ends[2] = {-1, -1};
  space_failure result{space_step::fork, EMFILE};
  if (::pipe2(ends, O_CLOEXEC) != 0) ::_exit(1);
  const auto user = ::geteuid();
  const auto group = ::getegid();
  const auto child = fork_into_space();
  if (child < 0) result.number = errno;
  if (child == 0) {
    ::close(ends[0]);
    result = probe_in_space(user, group, ends[1]);
    ::_exit(::write(ends[1], &result, sizeof(result)) < 0 ? 1 : 0);
  }
  ::close(ends[1]);
  if (child > 0) {
    if (::read(ends[0], &result, sizeof(result)) != sizeof(result))
      result = {space_step::command, EINTR};
    ::waitpid(child, nullptr, 0);
  }
  const auto text =
      result.number == 0 ? std::string{"usable"} : to_text(result);
  ::_exit(::write(1, text.data(), text.size()) < 0 ? 1 : 0);
}

}  // namespace riffle::tools
