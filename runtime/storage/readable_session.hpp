// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "runtime/storage/journal.hpp"

namespace riffle::storage {

/// What can still be read of a session, for who deletes it.
struct readable_session {
  /// All of it, if it is whole. Else runs whose records are; of calls only the
  /// ids, of all that can be found; nothing else.
  session_snapshot session;
  std::size_t lost_runs = 0;  ///< those whose records are not
};

/// `not_found`: nothing of it is there.
expected<readable_session> load_readable(journal& from, const session_id& id);

}  // namespace riffle::storage
