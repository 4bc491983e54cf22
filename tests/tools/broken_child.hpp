// SPDX-License-Identifier: MIT
#pragma once

// What a worker's child process does to its runtime once it is broken.

#include <algorithm>
#include <string>
#include <sys/socket.h>
#include <vector>

#include "tools/process/worker_pipe.hpp"

namespace riffle::testing {

/// The socket to the runtime, found as a broken tool could hit it.
inline int worker_channel() {
  for (int fd = 3; fd < 64; ++fd) {
    int type = 0;
    socklen_t size = sizeof(type);
    if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0) return fd;
  }
  return -1;
}

/// As a child that lost its mind says it.
inline void say_to_runtime(const std::string& message,
                           std::size_t bytes = std::string::npos) {
  for (const auto& packet : tools::in_packets(message.substr(0, bytes)))
    tools::send_packet(worker_channel(), true, packet);
}

/// A message without an end.
inline void flood_runtime() {
  const auto packet = "+" + std::string(tools::longest_piece, 'x');
  while (tools::send_packet(worker_channel(), true, packet) ==
         tools::send_state::sent) {
  }
}

inline bool breaks_off(const std::string& what) {
  const std::vector<std::string> all{"close",        "garbage",     "cut off",
                                     "no kind",      "for a child", "too long",
                                     "other version"};
  return std::ranges::find(all, what) != all.end();
}

}  // namespace riffle::testing
