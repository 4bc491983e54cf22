// SPDX-License-Identifier: MIT
#pragma once

// How the servers of models are reached: URL, headers, key, and a transport
// that obeys the model's limits.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/executor.hpp"
#include "runtime/base/timer.hpp"
#include "runtime/config/config.hpp"
#include "runtime/model/lent_transport.hpp"
#include "runtime/model/transport.hpp"
#include "runtime/service/capacity_board.hpp"
#include "runtime/service/provider_key.hpp"

namespace riffle::service {

/// What of a request is the server's and the person's, not the dialect's.
struct model_link {
  std::string base{};  ///< without a '/' at its end
  /// The environment says where it is, not the configuration.
  bool redirected = false;
  std::string query{};  ///< with its '?'; may be empty
  std::string key{};
  std::vector<std::string> headers{};  ///< beside those of the dialect
  model::model_advice advice{};
  std::shared_ptr<model::transport> transport{};

  /// `path`: of the dialect, "/chat/completions".
  [[nodiscard]] std::string url(std::string_view path) const {
    return base + std::string{path} + query;
  }
};

/// Whether a model can be asked, as far as the environment and the
/// configuration say: fails as `model_links::open`; runs no program.
expected<void> check_model(const std::string& name,
                           const config::model_config& model);

/// Thread-safe. Blocks where a script is read or a program prints the key.
class model_links {
 public:
  struct parts {
    std::shared_ptr<const config::config> config;
    std::shared_ptr<timer> clock;
    /// Where a program that prints a key is run again.
    std::shared_ptr<executor> waits;
    /// Scripts (TOML) by name of their model, instead of its file.
    std::map<std::string, std::string> scripts;
    std::shared_ptr<model::lent_transport> lent;  ///< null: HTTP
    /// Around each call of a listener by the HTTP client's thread.
    std::function<void(const std::function<void()>&)> around_listeners;
    std::shared_ptr<capacity_board> capacity{};  ///< null: nobody wants it
  };

  explicit model_links(parts x) : parts_{std::move(x)} {}

  /// Fails with `invalid_config`: no key, no script, a variable that is not
  /// set; `cancelled`: asked to stop, or closed, while a program should print
  /// the key.
  expected<model_link> open(const std::string& name,
                            const config::model_config& model,
                            const std::stop_token& stop);

  /// Nothing waits for a key any more.
  void close() { closed_.request_stop(); }

 private:
  using transport_ptr = std::shared_ptr<model::transport>;

  expected<void> find_key(const std::string& name,
                          const config::model_config& model,
                          const std::stop_token& stop, model_link& to);
  expected<transport_ptr> transport_of(const std::string& name,
                                       const config::model_config& model);
  expected<transport_ptr> plain_transport(const std::string& name,
                                          const config::model_config& model);

  const parts parts_;
  std::stop_source closed_;
  std::mutex mutex_;
  transport_ptr http_;
  /// One for each model that was asked for, so that its limits hold for all.
  std::map<std::string, transport_ptr> transports_;
  std::map<std::string, std::shared_ptr<command_key>> keys_;
};

}  // namespace riffle::service
