// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/model/transport.hpp"

namespace riffle::testing {

/// A transport that keeps what it was asked for; transfers end when a test
/// says so, or when they are cancelled. Thread-safe.
class fake_transport final : public model::transport {
 public:
  struct asked {
    std::string url;
    std::size_t credit = 0;  ///< with all grants
    bool cancelled = false;
    std::shared_ptr<model::transfer_listener> listener;  ///< null: it ended
  };

  model::transfer_id open(
      model::transport_request request,
      std::shared_ptr<model::transfer_listener> listener) override {
    model::transfer_id id = 0;
    {
      std::lock_guard lock{mutex_};
      id = first_id + all_.size();
      all_.push_back({request.url, request.credit, false, listener});
      most_ = std::max(most_, ++open_);
    }
    if (on_open) on_open(id);
    return id;
  }

  void grant(model::transfer_id id, std::size_t bytes) override {
    std::lock_guard lock{mutex_};
    all_.at(id - first_id).credit += bytes;
  }

  void cancel(model::transfer_id id) override {
    {
      std::lock_guard lock{mutex_};
      all_.at(id - first_id).cancelled = true;
    }
    model::transport_end end;
    end.failure = error{errc::cancelled, "fake", "cancelled", false, {}};
    finish(id, std::move(end));
  }

  /// Ends a transfer, unless it ended.
  void finish(model::transfer_id id, model::transport_end end = {}) {
    std::shared_ptr<model::transfer_listener> listener;
    {
      std::lock_guard lock{mutex_};
      listener = std::exchange(all_.at(id - first_id).listener, nullptr);
      if (!listener) return;
      --open_;
    }
    listener->on_end(std::move(end));
  }

  [[nodiscard]] std::vector<asked> all() const {
    std::lock_guard lock{mutex_};
    return all_;
  }
  /// The URLs, in the order in which they came.
  [[nodiscard]] std::string order() const {
    std::string out;
    for (const auto& x : all()) out += x.url;
    return out;
  }
  [[nodiscard]] std::size_t most_open() const {
    std::lock_guard lock{mutex_};
    return most_;
  }

  /// Called inside `open`, before its caller knows the number.
  std::function<void(model::transfer_id)> on_open;

  /// Far from the numbers of whoever is in front of it.
  static constexpr model::transfer_id first_id = 1000;

 private:
  mutable std::mutex mutex_;
  std::vector<asked> all_;
  std::size_t open_ = 0;
  std::size_t most_ = 0;
};

}  // namespace riffle::testing
