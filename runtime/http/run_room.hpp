// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>

#include "messages/time.hpp"
#include "runtime/service/sessions.hpp"

namespace riffle::http {

/// How many runs may still begin in this process (`server.limits.runs`).
/// Thread-safe. Blocks on the journal.
class run_room {
 public:
  /// `most`: 0: as many as are asked for.
  run_room(service::sessions sessions, std::size_t most)
      : sessions_{std::move(sessions)}, most_{most} {}

  /// Whether there is room for one more: of what was counted a moment ago, with
  /// all that were let in since.
  bool is_there() { return look(false); }
  /// The same, and then it is taken.
  bool take() { return look(true); }

 private:
  bool look(bool takes);
  [[nodiscard]] std::size_t count() const;

  const service::sessions sessions_;
  const std::size_t most_;
  std::mutex mutex_;
  std::size_t under_way_ = 0;
  time_point counted_at_{};
};

}  // namespace riffle::http
