// SPDX-License-Identifier: MIT
#pragma once

// Keys of providers: from variables, or from a program that prints them.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "messages/error.hpp"
#include "runtime/config/config.hpp"
#include "runtime/model/renewing_transport.hpp"

namespace riffle::service {

/// Whether `url` is a server on this machine, by its host.
[[nodiscard]] bool is_loopback(std::string_view url);

/// The text with the values of the variables that it names as "${NAME}", which
/// are secrets from now on if `secret`. Fails with `invalid_config`, naming the
/// variable and `what` names it.
expected<std::string> expand(const std::string& text, const std::string& what,
                             bool secret);

/// The key from `api_key_env`. A server on this machine may need none, and an
/// application that brings its own transport (`lent`) may have its own way:
/// empty. Else fails, naming the variable.
expected<std::string> key_of_variable(const config::model_config& model,
                                      const std::string& url, bool lent);

/// What a program prints: its first line that is not blank. Blocks for half a
/// minute at most; asked to stop, it fails with `cancelled`. It gets this
/// process's environment but for its keys.
expected<std::string> run_key_command(const std::vector<std::string>& command,
                                      std::stop_token stop);

/// The key that a program prints, for all requests to one model. Thread-safe.
class command_key final : public model::key_renewal {
 public:
  explicit command_key(std::vector<std::string> command)
      : command_{std::move(command)} {}

  /// Runs the program until it has printed a key, once for all who wait.
  /// `stop`: as `run_key_command`.
  expected<std::string> get(const std::stop_token& stop);

  void put_key(model::transport_request& request) override;
  bool renew(model::transport_request& request,
             const std::stop_token& stop) override;

 private:
  class turn;
  expected<std::string> run(const std::stop_token& stop);
  void replace(model::transport_request& request) const;

  const std::vector<std::string> command_;
  mutable std::mutex mutex_;  ///< of all below
  /// One runs it at a time: the others wait and get what it printed, or why
  /// there is no key.
  bool running_ = false;
  std::condition_variable_any ran_;
  std::string key_;
  std::deque<std::string> old_;  ///< the newest last
  error failed_;                 ///< of the last run that printed no key
  std::uint64_t runs_ = 0;       ///< that nobody stopped, and that have ended
};

}  // namespace riffle::service
