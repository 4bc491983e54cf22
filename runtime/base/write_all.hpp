// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <string_view>
#include <unistd.h>

namespace riffle {

/// All of `bytes`; 0 or an errno.
inline int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

}  // namespace riffle
