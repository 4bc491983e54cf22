// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/model/transport.hpp"

namespace riffle::model {

/// What all transfers of one transport share.
struct http_options {
  /// Proxy URL; empty: none; nothing: `https_proxy`, `http_proxy`,
  /// `all_proxy` and `no_proxy` of the environment decide.
  std::optional<std::string> proxy;
  /// PEM file of the authorities to trust instead of the system's.
  std::string ca_file;
  /// Speak HTTP/2 on `http://` without asking (tests). Otherwise `http://` is
  /// HTTP/1.1, and `https://` is HTTP/2 where the server offers it.
  bool http2_prior_knowledge = false;
  /// Connections kept open for the next request.
  std::size_t max_idle_connections = 8192;
  std::string user_agent = "riffle";
  /// Calls what it is given, which calls listeners: at once, on this thread,
  /// the I/O thread. For who has more to do on it then. Empty: nothing more.
  std::function<void(const std::function<void()>&)> around_listeners;
};

/// Requests over HTTP(S) by libcurl: POST of `body`. One I/O thread for all
/// transfers, started by the first one; `listener` calls come from it.
///
/// Held without credit: at most 80 KiB of a body (64 KiB and one read of
/// 16 KiB), over HTTP/1.1 and HTTP/2. An answer that is compressed, which
/// nobody asked for, is refused. Redirects are not followed. Certificates
/// are verified, there is no way around it.
///
/// The destructor ends all transfers with `cancelled` and joins the thread,
/// so it must not run on it: no listener may own the transport.
std::unique_ptr<transport> make_http_transport(http_options options);

}  // namespace riffle::model
