// SPDX-License-Identifier: MIT
#include "runtime/base/locked_files.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <map>
#include <mutex>

namespace riffle {

namespace {

using std::chrono::steady_clock;

/// How long it is taken for what it was: each file that a tool reads is
/// compared with it, and looking at a name costs as much as opening that file.
/// It becomes another one when SQLite opens it anew, which tells `hold_locked`;
/// what somebody else puts in its place is found soon after.
constexpr auto trusted = std::chrono::milliseconds{100};

struct held_file {
  int count = 0;
  bool seen = false;  ///< what it was at `looked`:
  steady_clock::time_point looked{};
  dev_t device = 0;
  ino_t number = 0;

  /// What is not there is looked for each time: SQLite makes it when it needs
  /// it.
  void look(const std::string& name, steady_clock::time_point now) {
    if (seen && now - looked < trusted) return;
    struct stat its{};
    seen = ::stat(name.c_str(), &its) == 0;
    looked = now;
    device = its.st_dev;
    number = its.st_ino;
  }
};

struct held_files {
  std::mutex mutex;
  std::map<std::string, held_file> all;
};

held_files& held() {
  static auto* const x = new held_files;  // threads may outlive statics
  return *x;
}

}  // namespace

void hold_locked(const std::string& file) {
  const std::lock_guard lock{held().mutex};
  auto& x = held().all[file];
  ++x.count;
  x.seen = false;
}

void release_locked(const std::string& file) {
  const std::lock_guard lock{held().mutex};
  const auto i = held().all.find(file);
  if (i == held().all.end()) return;
  i->second.seen = false;
  if (--i->second.count == 0) held().all.erase(i);
}

bool is_locked_file(const struct stat& x) {
  const auto now = steady_clock::now();
  const std::lock_guard lock{held().mutex};
  return std::ranges::any_of(held().all, [&](auto& one) {
    auto& file = one.second;
    file.look(one.first, now);
    return file.seen && file.number == x.st_ino && file.device == x.st_dev;
  });
}

unique_fd open_place(int place, int flags) {
  struct stat info{};
  if (::fstat(place, &info) != 0) return {};
  return open_place(place, info, flags);
}

unique_fd open_place(int place, const struct stat& info, int flags) {
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
