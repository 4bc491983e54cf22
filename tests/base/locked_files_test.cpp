// SPDX-License-Identifier: MIT
// What holds POSIX record locks is opened by nobody else of the process.
#include "runtime/base/locked_files.hpp"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

/// Whether another process meets the lock of this one.
bool is_locked_for_others(const fs::path& file) {
  const auto child = ::fork();
  if (child == 0) {
    const int fd = ::open(file.c_str(), O_RDWR);
    struct flock asked{};
    asked.l_type = F_WRLCK;
    asked.l_whence = SEEK_SET;
    ::fcntl(fd, F_GETLK, &asked);
    ::_exit(asked.l_type == F_UNLCK ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("no other descriptor of a locked file frees its lock") {
  const testing::temp_folder folder;
  const auto file = folder.path() / "riffle.db";
  std::ofstream{file} << "text";
  const unique_fd own{::open(file.c_str(), O_RDWR | O_CLOEXEC)};
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  REQUIRE(::fcntl(own.get(), F_SETLK, &lock) == 0);
  hold_locked(file.string());
  hold_locked(file.string());
  fs::create_symlink(file, folder.path() / "link");
  fs::create_hard_link(file, folder.path() / "twin");
  std::ofstream{folder.path() / "other"} << "text";
  for (const auto* name : {"riffle.db", "link", "twin"}) {
    CAPTURE(name);
    errno = 0;
    CHECK_FALSE(open_unlocked((folder.path() / name).string(), O_RDONLY));
    CHECK(errno == EBUSY);
    CHECK(is_locked_for_others(file));
  }
  CHECK(open_unlocked((folder.path() / "other").string(), O_RDONLY));
  CHECK_FALSE(open_unlocked((folder.path() / "none").string(), O_RDONLY));
  CHECK(errno == ENOENT);
  CHECK_FALSE(
      open_unlocked((folder.path() / "link").string(), O_RDONLY | O_NOFOLLOW));
  CHECK(errno == ELOOP);
  // One of two that held it.
  release_locked(file.string());
  CHECK_FALSE(open_unlocked(file.string(), O_RDONLY));
  release_locked(file.string());
  CHECK(open_unlocked(file.string(), O_RDONLY));
}

TEST_CASE("a locked file that is made anew is known at once where it is held") {
  const testing::temp_folder folder;
  const auto file = folder.path() / "riffle.db";
  std::ofstream{file} << "text";
  hold_locked(file.string());
  CHECK_FALSE(open_unlocked(file.string(), O_RDONLY));
  const auto replace = [&] {
    std::ofstream{folder.path() / "other"} << "other";
    fs::rename(folder.path() / "other", file);
  };
  replace();
  hold_locked(file.string());
  CHECK_FALSE(open_unlocked(file.string(), O_RDONLY));
  // Where nobody says so it is found, too, if not at once.
  replace();
  const auto end = std::chrono::steady_clock::now() + testing::scaled(10s);
  while (open_unlocked(file.string(), O_RDONLY) &&
         std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  CHECK_FALSE(open_unlocked(file.string(), O_RDONLY));
  // What was not there yet is looked for each time.
  const auto later = folder.path() / "riffle.db-shm";
  hold_locked(later.string());
  CHECK(open_unlocked(file.string(), O_RDONLY).get() < 0);
  std::ofstream{later} << "text";
  CHECK_FALSE(open_unlocked(later.string(), O_RDONLY));
  release_locked(later.string());
  release_locked(file.string());
  release_locked(file.string());
}
