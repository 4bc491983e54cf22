// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>

#include "tools/process/guard.hpp"

namespace riffle::tools {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

unexpected lock_error(const std::filesystem::path& file, std::string why) {
  return unexpected{error{
      .code = errc::internal,
      .op = "guard.lock",
      .message = "the lock file " + file.string() + " " + std::move(why)}};
}

unexpected system_error(const std::filesystem::path& file, int number) {
  return lock_error(file,
                    std::string{"cannot be used: "} + std::strerror(number));
}

/// Whether the path still leads to what the descriptor has open.
bool same_file(int fd, const std::filesystem::path& file) {
  struct stat opened{};
  struct stat named{};
  return ::fstat(fd, &opened) == 0 && ::stat(file.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

bool try_lock(int fd) { return ::flock(fd, LOCK_EX | LOCK_NB) == 0; }

/// Another process ends the wait, and there is nothing to poll for it.
/// False when the time is up.
bool pause_until(time_point deadline, milliseconds& delay) {
  const auto left = deadline - steady_clock::now();
  if (left <= duration::zero()) return false;
  std::this_thread::sleep_for(std::min<duration>(delay, left));
  delay = std::min(delay * 2, milliseconds{50});
  return true;
}

}  // namespace

expected<unique_fd> lock_for_guard(const std::filesystem::path& file) {
  const auto deadline = steady_clock::now() + std::chrono::seconds{1};
  milliseconds delay{1};
  do {
    unique_fd fd{
        ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (!fd) return system_error(file, errno);
    if (try_lock(fd.get())) {
      if (same_file(fd.get(), file)) return fd;
    } else if (errno != EWOULDBLOCK && errno != EINTR) {
      return system_error(file, errno);
    }
  } while (pause_until(deadline, delay));
  return lock_error(file, "is held by another attempt");
}

expected<void> wait_for_guard(const std::filesystem::path& file,
                              time_point deadline) {
  const unique_fd fd{::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
  if (!fd) {
    if (errno == ENOENT) return {};
    return system_error(file, errno);
  }
  milliseconds delay{1};
  while (!try_lock(fd.get())) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return system_error(file, errno);
    if (!pause_until(deadline, delay))
      return lock_error(file, "is still held: processes of the tool live");
  }
  if (same_file(fd.get(), file)) ::unlink(file.c_str());
  return {};
}

}  // namespace riffle::tools
