// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/run/subscriber.hpp"
#include "messages/error.hpp"

namespace riffle::service {

/// Whether a process's actors can go on: an actor that all runs need (session
/// store, command inbox, run registry, cluster gate) died, so nothing can. All
/// readers are told then, and whoever asks for more. Thread-safe; outlives its
/// node.
class vitals {
 public:
  /// `end_all` is called once, when the first of those actors died.
  explicit vitals(std::function<void()> end_all)
      : end_all_{std::move(end_all)} {}

  /// `what` died. Nothing happens when that was asked for (`stop_watching`).
  void on_death(const std::string& what, const std::string& why);
  /// The node ends: deaths are expected from here on, `end_all` is forgotten.
  void stop_watching();

  [[nodiscard]] std::optional<error> failure() const;

  /// Remembers a reader, which is told of a death. False: it was just told.
  bool add(const subscriber_ptr& reader);

 private:
  mutable std::mutex mutex_;
  std::function<void()> end_all_;
  bool watching_ = true;
  std::optional<error> failure_;
  std::vector<std::weak_ptr<subscriber>> readers_;
  std::size_t sweep_at_ = 64;
};

}  // namespace riffle::service
