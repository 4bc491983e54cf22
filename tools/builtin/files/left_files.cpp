// SPDX-License-Identifier: MIT
#include "tools/builtin/files/left_files.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <random>
#include <sys/file.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

#include "runtime/base/folders.hpp"
#include "runtime/base/unique_fd.hpp"

namespace riffle::tools {

namespace {

constexpr std::string_view beginning = ".riffle-";
constexpr std::string_view ending = ".tmp";
constexpr std::size_t digits = 16;
constexpr int most_entries = 10'000;
constexpr std::time_t old = 60;  // s

constexpr std::chrono::seconds between_looks{60};

/// Of all places, also when a number of the file system's is given again.
using place_key = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t,
                             std::int64_t, std::uint32_t>;

/// Whether it is time to look at a folder: many writes there must not each cost
/// what the folder has files.
bool is_due(int folder) {
  constexpr std::size_t most_known = 1024;
  struct statx x{};
  if (::statx(folder, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &x) != 0)
    return false;
  const place_key key{x.stx_dev_major, x.stx_dev_minor, x.stx_ino,
                      x.stx_btime.tv_sec, x.stx_btime.tv_nsec};
  struct known {
    std::mutex mutex;
    std::map<place_key, std::chrono::steady_clock::time_point> looked;
  };
  static auto* const all = new known;  // threads may outlive statics
  auto& looked = all->looked;
  const std::lock_guard lock{all->mutex};
  const auto now = std::chrono::steady_clock::now();
  if (looked.size() >= most_known) looked.clear();
  const auto [at, fresh] = looked.emplace(key, now);
  if (!fresh && now - at->second < between_looks) return false;
  at->second = now;
  return true;
}

/// A plain file of ours, by this name alone, that nobody writes to.
bool may_go(const struct stat& x) {
  return S_ISREG(x.st_mode) && x.st_uid == ::geteuid() && x.st_nlink == 1 &&
         x.st_mtime < std::time(nullptr) - old;
}

void remove_if_left(int folder, const char* name) {
  struct stat seen{};
  // Before it is opened: that may act on what is no plain file.
  if (::fstatat(folder, name, &seen, AT_SYMLINK_NOFOLLOW) != 0 || !may_go(seen))
    return;
  const unique_fd file{
      ::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  struct stat now{};
  if (!file || ::fstat(file.get(), &now) != 0 || now.st_ino != seen.st_ino ||
      now.st_dev != seen.st_dev || !may_go(now))
    return;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlinkat(folder, name, 0);
}

}  // namespace

std::string temporary_name() {
  thread_local std::random_device random;  // slow to make
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), ".riffle-%08x%08x.tmp", random(),
                random());
  return text.data();
}

bool is_temporary_name(std::string_view name) {
  return name.size() == beginning.size() + digits + ending.size() &&
         name.starts_with(beginning) && name.ends_with(ending) &&
         std::ranges::all_of(name.substr(beginning.size(), digits), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

void mark_used(int file) noexcept { ::flock(file, LOCK_EX | LOCK_NB); }

void remove_left_files(int folder) {
  if (!is_due(folder)) return;
  unique_fd list{::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!list) return;
  const unique_dir entries{::fdopendir(list.get())};
  if (!entries) return;
  static_cast<void>(list.release());
  for (int n = 0; n < most_entries; ++n) {
    const auto* entry = ::readdir(entries.get());
    if (entry == nullptr) return;
    if (is_temporary_name(entry->d_name)) remove_if_left(folder, entry->d_name);
  }
}

}  // namespace riffle::tools
