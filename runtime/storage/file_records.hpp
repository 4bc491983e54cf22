// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/storage/records.hpp"

namespace riffle::storage {

/// What a journal is, too, that can be asked for what a session's models were
/// shown. Thread-safe.
class file_records {
 public:
  virtual ~file_records() = default;

  /// The bytes of all of them; none if there is no such session.
  virtual expected<kept_files> load_files(const session_id& id) = 0;
};

}  // namespace riffle::storage
