// SPDX-License-Identifier: MIT
#include "runtime/base/read_within.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "runtime/base/locked_files.hpp"
#include "runtime/base/unique_fd.hpp"

namespace riffle {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using problem = tl::unexpected<std::string>;

problem cannot_read(int number) {
  return problem{"cannot be read: " + std::generic_category().message(number)};
}

std::string limit_text(std::size_t bytes) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  return bytes % mebibyte == 0 ? std::to_string(bytes / mebibyte) + " MiB"
                               : std::to_string(bytes) + " bytes";
}

/// False when the time is up.
bool await(int fd, steady_clock::time_point deadline) {
  for (;;) {
    const auto left =
        std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    pollfd ready{fd, POLLIN, 0};
    const int n = ::poll(
        &ready, 1, static_cast<int>(std::max(left, milliseconds{0}).count()));
    if (n > 0) return true;
    if (n == 0 || errno != EINTR) return false;
  }
}

tl::expected<std::string, std::string> read_all(int fd,
                                                const read_limits& limits) {
  const auto deadline = steady_clock::now() + limits.time;
  std::string out;
  std::array<char, 65536> piece{};
  while (out.size() <= limits.bytes) {
    if (!await(fd, deadline))
      return problem{"did not come to its end within " +
                     std::to_string(limits.time.count()) + " ms"};
    const auto n = ::read(fd, piece.data(), piece.size());
    if (n == 0) return out;
    if (n > 0)
      out.append(piece.data(), static_cast<std::size_t>(n));
    else if (errno != EINTR && errno != EAGAIN)
      return cannot_read(errno);
  }
  return problem{"is larger than " + limit_text(limits.bytes)};
}

}  // namespace

tl::expected<std::string, std::string> read_within(
    const std::filesystem::path& file, const read_limits& limits) {
  if (file.empty()) return problem{"has no name"};
  // Not blocking: opening a pipe would wait for somebody who writes.
  const auto in =
      open_unlocked(file.string(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!in) return cannot_read(errno);
  struct stat about{};
  if (::fstat(in.get(), &about) != 0) return cannot_read(errno);
  if (S_ISDIR(about.st_mode)) return problem{"is a folder, not a file"};
  return read_all(in.get(), limits);
}

}  // namespace riffle
