// SPDX-License-Identifier: MIT
#include "runtime/base/locked_files.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace riffle {

namespace {

struct held_files {
  std::shared_mutex mutex;
  std::map<std::string, int> all;
};

held_files& held() {
  static auto* const x = new held_files;  // threads may outlive statics
  return *x;
}

}  // namespace

void hold_locked(const std::string& file) {
  const std::unique_lock lock{held().mutex};
  ++held().all[file];
}

void release_locked(const std::string& file) {
  const std::unique_lock lock{held().mutex};
  const auto i = held().all.find(file);
  if (i != held().all.end() && --i->second == 0) held().all.erase(i);
}

/// By name each time: a file is made anew while others hold it.
bool is_locked_file(const struct stat& x) {
  const std::shared_lock lock{held().mutex};
  return std::ranges::any_of(held().all, [&](const auto& one) {
    struct stat its{};
    return ::stat(one.first.c_str(), &its) == 0 && its.st_ino == x.st_ino &&
           its.st_dev == x.st_dev;
  });
}

unique_fd open_place(int place, int flags) {
  struct stat info{};
  if (::fstat(place, &info) != 0) return {};
  if (S_ISLNK(info.st_mode) || is_locked_file(info)) {
    errno = S_ISLNK(info.st_mode) ? ELOOP : EBUSY;
    return {};
  }
  const auto name = "/proc/self/fd/" + std::to_string(place);
  return unique_fd{::open(name.c_str(), (flags & ~O_NOFOLLOW) | O_CLOEXEC)};
}

unique_fd open_unlocked(const std::string& file, int flags) {
  const unique_fd place{
      ::open(file.c_str(), O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW))};
  if (!place) return {};
  auto fd = open_place(place.get(), flags);
  // Without /proc nobody can be sure that it is still the file that was seen.
  if (fd || errno != ENOENT) return fd;
  return unique_fd{::open(file.c_str(), flags | O_CLOEXEC)};
}

}  // namespace riffle
