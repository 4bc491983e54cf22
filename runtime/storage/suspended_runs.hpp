// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "messages/error.hpp"
#include "messages/ids.hpp"

namespace riffle::storage {

/// The runs that are suspended: a unit of theirs could not be stored, and a
/// later one would leave a gap. Each goes on once it was adopted again.
/// Thread-safe.
class suspended_runs {
 public:
  /// Why nothing of this run may be stored, or nothing.
  [[nodiscard]] std::optional<error> find(const run_id& run) const;
  /// Why nothing at all may be stored, or nothing.
  [[nodiscard]] std::optional<error> find_end() const;

  /// Which suspension of the run this is; 0: it is not suspended.
  [[nodiscard]] std::uint64_t mark(const run_id& run) const;

  void halt(const run_id& run, const error& why);
  /// The file is damaged, or its log gone: the end, for this process.
  void halt_all(const error& why);
  /// Ends the suspension that has this mark: not one that began since.
  void release(const run_id& run, std::uint64_t mark);
  void release(const run_id& run) { release(run, mark(run)); }

 private:
  struct suspension {
    error why;
    std::uint64_t mark = 0;
  };

  mutable std::mutex mutex_;
  std::unordered_map<run_id, suspension> runs_;
  std::uint64_t last_mark_ = 0;
  std::optional<error> end_;
};

}  // namespace riffle::storage
