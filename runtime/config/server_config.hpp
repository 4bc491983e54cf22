// SPDX-License-Identifier: MIT
#pragma once

// `[server]`: the HTTP server (runtime/http).

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/time.hpp"

namespace riffle::config {

/// `[server.limits]`. Over one of them a request is refused (413, 429, 503),
/// and nothing else suffers.
struct server_limits_config {
  std::uint64_t header_bytes = 16u << 10;
  std::uint64_t body_bytes = 1u << 20;
  std::uint64_t attachment_bytes = 32u << 20;  ///< of a body with attachments
  std::uint32_t connections = 10'000;
  std::uint32_t streams = 10'000;
  std::uint32_t streams_per_token = 1024;
  std::uint32_t runs = 1024;                ///< under way; 0: no limit
  std::uint32_t requests_per_second = 200;  ///< of a token; 0: no limit
};

/// `[server.tls]`: PEM files; empty: plain HTTP.
struct server_tls_config {
  std::string certificate{};
  std::string key{};
};

/// `[server.tokens.NAME]`: somebody who may use the server.
struct token_config {
  std::string hash{};  ///< SHA-256 of the token, in hex
  /// run decide read admin.
  std::vector<std::string> roles = {"run", "decide", "read"};
  std::vector<std::string> agents{};  ///< that it may use; empty: all
  /// Where tools of its runs work; empty: `tools.workspace`.
  std::string workspace{};
  /// own: those that it began; all: those of everybody.
  std::string sessions = "own";
};

struct server_config {
  std::string listen = "127.0.0.1:7433";
  std::string token_env = "RIFFLE_TOKEN";
  /// What becomes of running work when the server is told to stop.
  std::string on_stop = "finish";  ///< finish cancel leave
  /// Longest time for that; what runs then is left to recovery.
  duration stop_timeout = std::chrono::seconds{10};
  /// A client that takes no byte for so long is cut off, and can resume.
  duration stall_timeout = std::chrono::seconds{60};
  duration heartbeat = std::chrono::seconds{15};  ///< of silence in a stream
  duration retry = std::chrono::seconds{1};  ///< what clients are told to wait
  duration request_timeout = std::chrono::seconds{30};  ///< to receive one
  /// Runs of this server that were cut off and go on at its start, at once.
  std::uint32_t recover_at_once = 4;
  /// Names by which it is called, beside its address and localhost.
  std::vector<std::string> hosts{};
  /// Web pages of other origins that may use it (CORS): "https://app.example".
  std::vector<std::string> origins{};
  /// Whose X-Forwarded-* headers count.
  std::vector<std::string> trusted_proxies{};
  server_limits_config limits{};
  server_tls_config tls{};
  std::map<std::string, token_config> tokens{};
};

}  // namespace riffle::config
