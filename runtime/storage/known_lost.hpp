// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "runtime/storage/row_reader.hpp"

namespace riffle::storage {

/// What a process knows of lost rows (`lost_run`), so that it looks for them
/// once, and not for each session. Nothing that this program commits loses a
/// row. Thread-safe.
class known_lost {
 public:
  /// `anew`: they are looked for again if somebody else has committed since.
  std::vector<lost_run> all(row_reader& rows, bool anew);
  /// Those of one session.
  std::vector<lost_run> of(row_reader& rows, const session_id& id, bool anew);
  /// A list that met damage has named these: indexes may not know some.
  void name(const std::vector<session_id>& ids);
  bool is_named(const session_id& id);
  /// It is deleted.
  void forget(const session_id& id);

 private:
  const std::vector<lost_run>& look(row_reader& rows, bool anew);

  std::mutex mutex_;
  std::optional<std::vector<lost_run>> all_;  ///< nothing: not looked yet
  std::set<session_id> named_;
};

}  // namespace riffle::storage
