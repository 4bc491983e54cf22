// SPDX-License-Identifier: MIT
#pragma once

// How much of a conversation a local model takes, where nobody said it.

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "runtime/config/config.hpp"
#include "runtime/service/model_links.hpp"

namespace riffle::service {

/// The tokens that a model can take, in the answer of Ollama's `/api/show`;
/// nothing: it does not say.
[[nodiscard]] std::optional<std::uint64_t> read_own_window(
    std::string_view body);

/// Thread-safe. Asks once for each model.
class model_windows {
 public:
  /// `limit`: how long a server may take to say it.
  explicit model_windows(
      std::chrono::milliseconds limit = std::chrono::seconds{2})
      : limit_{limit} {}

  /// Sets the `context_window` of a model of the dialect `ollama` that has
  /// none: the model's own, but no more than what a laptop bears, and that much
  /// where the server does not say. Other models stay as they are. Blocks.
  /// Asked to stop, it waits no longer.
  void complete(const model_link& link, config::model_config& model,
                const std::stop_token& stop);

 private:
  std::optional<std::uint64_t> ask(const model_link& link,
                                   const config::model_config& model,
                                   const std::stop_token& stop) const;

  const std::chrono::milliseconds limit_;
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> known_;  ///< by server and model
};

}  // namespace riffle::service
