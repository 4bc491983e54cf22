// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "messages/error.hpp"
#include "messages/time.hpp"
#include "runtime/service/notes.hpp"

namespace riffle::http {

/// Cookies that were logged out before their end: kept, by digest, until then,
/// also over a restart. Thread-safe.
class ended_cookies {
 public:
  /// Reads what was kept. Blocks.
  explicit ended_cookies(std::shared_ptr<storage::session_records> records);

  [[nodiscard]] bool contains(std::string_view cookie) const;
  /// Only of a cookie that was made here. Blocks until it is kept.
  expected<void> add(std::string_view cookie, wall_time until, wall_time now);

 private:
  const service::notes notes_;
  mutable std::mutex mutex_;
  std::map<std::string, wall_time> all_;  ///< by digest
};

}  // namespace riffle::http
