// SPDX-License-Identifier: MIT
#pragma once

// One request to a model's server that no run makes, and its whole answer.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "runtime/config/config.hpp"
#include "runtime/model/dialect.hpp"
#include "runtime/service/model_links.hpp"

namespace riffle::service {

/// A whole answer, in the reads in which it came. Thread-safe until its end.
class gathered_answer final : public model::transfer_listener {
 public:
  void on_bytes(std::string bytes) override;
  void on_end(model::transport_end x) override;

  /// False: not yet.
  bool wait(std::chrono::milliseconds length);
  /// After the end.
  [[nodiscard]] model::transport_end end() const { return *end_; }
  [[nodiscard]] std::size_t received() const;  ///< bytes, so far
  /// It ended otherwise than the transport says; after the end.
  void fail(error why);
  /// All that came, joined; after the end.
  [[nodiscard]] std::string body() const;

  std::vector<std::string> reads;  ///< after the end

 private:
  mutable std::mutex mutex_;
  std::size_t received_ = 0;
  std::condition_variable ended_;
  std::optional<model::transport_end> end_;
};

/// Headers and the time limits of the model; neither URL nor body.
model::transport_request begin_request(const model_link& link,
                                       const model::dialect& dialect,
                                       const config::model_config& model);

/// Blocks until the answer ended, however it did; it is cancelled when `stop`
/// asks for that, or after `limit` (0: none beside those of the request). One
/// of more than 16 MiB is a failure.
std::shared_ptr<gathered_answer> exchange(model::transport& transport,
                                          model::transport_request request,
                                          const std::stop_token& stop = {},
                                          std::chrono::milliseconds limit = {});

}  // namespace riffle::service
