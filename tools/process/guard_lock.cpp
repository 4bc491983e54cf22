// SPDX-License-Identifier: MIT
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <string>

#include "runtime/base/file_lock.hpp"
#include "tools/process/guard.hpp"

namespace riffle::tools {

namespace {

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

}  // namespace

expected<unique_fd> lock_for_guard(const std::filesystem::path& file) {
  const auto deadline = steady_clock::now() + std::chrono::seconds{1};
  do {
    unique_fd fd{
        ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (!fd) return system_error(file, errno);
    if (!lock_until(fd, lock_kind::exclusive, deadline)) {
      if (errno != EWOULDBLOCK) return system_error(file, errno);
      break;
    }
    if (leads_to(file, fd)) return fd;
  } while (steady_clock::now() < deadline);
  return lock_error(file, "is held by another attempt");
}

expected<void> wait_for_guard(const std::filesystem::path& file,
                              time_point deadline) {
  const unique_fd fd{::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
  if (!fd) {
    if (errno == ENOENT) return {};
    return system_error(file, errno);
  }
  if (!lock_until(fd, lock_kind::exclusive, deadline)) {
    if (errno != EWOULDBLOCK) return system_error(file, errno);
    return lock_error(file, "is still held: processes of the tool live");
  }
  if (leads_to(file, fd)) ::unlink(file.c_str());
  return {};
}

}  // namespace riffle::tools
