// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "messages/error.hpp"
#include "messages/time.hpp"
#include "runtime/base/unique_fd.hpp"

namespace riffle::cluster {

/// A connected TCP socket. Each of resolving and connecting takes at most
/// `limit`; addresses of a name are tried one after the other. Blocks; looks at
/// `stop` ten times a second.
expected<unique_fd> tcp_dial(const std::string& host, std::uint16_t port,
                             duration limit, const std::stop_token& stop);

/// No delay for small messages; the kernel gives up on a peer that acknowledges
/// nothing for `silence`.
void set_options(int fd, duration silence);

}  // namespace riffle::cluster
