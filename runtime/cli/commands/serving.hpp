// SPDX-License-Identifier: MIT
#pragma once

// A server put together: the node, the site over its use cases, the transport.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "messages/error.hpp"
#include "runtime/config/config.hpp"
#include "runtime/http/gate.hpp"
#include "runtime/http/tokens.hpp"

namespace riffle::cli {

struct serving_options {
  config::config settings;
  bool no_token = false;
  int listening = -1;  ///< a socket that was handed over
};

struct serving_secrets {
  std::string token;
  std::filesystem::path token_file;  ///< empty: it came from a variable
  std::string cookie_key;
};

class serving {
 public:
  /// Serves when it returns, and goes on with what was cut off.
  static expected<std::unique_ptr<serving>> start(
      const serving_options& x, const serving_secrets& secrets);
  ~serving();
  serving(const serving&) = delete;
  serving& operator=(const serving&) = delete;

  [[nodiscard]] std::uint16_t port() const;

  /// Takes tokens, names, the certificate and the log's level from it, and says
  /// what else has changed, which counts after a restart. Any thread.
  void reload(const config::config& fresh, const serving_secrets& secrets);

  /// Any thread.
  void ask_to_stop();
  /// Until it was asked to stop, or cannot go on: then why.
  std::optional<error> wait();
  /// As `server.on_stop` says, within `server.stop_timeout` and a moment.
  void stop();

 private:
  struct impl;
  explicit serving(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

}  // namespace riffle::cli
