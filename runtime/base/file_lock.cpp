// SPDX-License-Identifier: MIT
#include "runtime/base/file_lock.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>

namespace riffle {

bool try_lock(const unique_fd& fd, lock_kind kind) noexcept {
  const int how = kind == lock_kind::shared ? LOCK_SH : LOCK_EX;
  int code = 0;
  do {
    code = ::flock(fd.get(), how | LOCK_NB);
  } while (code != 0 && errno == EINTR);
  return code == 0;
}

bool lock_until(const unique_fd& fd, lock_kind kind, time_point deadline) {
  constexpr duration longest_pause = std::chrono::milliseconds{20};
  duration pause = std::chrono::milliseconds{1};
  while (!try_lock(fd, kind)) {
    if (errno != EWOULDBLOCK) return false;
    const duration left = deadline - std::chrono::steady_clock::now();
    if (left <= duration::zero()) {
      errno = EWOULDBLOCK;
      return false;
    }
    std::this_thread::sleep_for(std::min(pause, left));
    pause = std::min(pause * 2, longest_pause);
  }
  return true;
}

bool leads_to(const std::filesystem::path& file, const unique_fd& fd) noexcept {
  struct stat opened{};
  struct stat named{};
  return ::fstat(fd.get(), &opened) == 0 && ::stat(file.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace riffle
