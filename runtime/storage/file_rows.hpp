// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "runtime/storage/journal.hpp"
#include "runtime/storage/sqlite.hpp"

namespace riffle::storage {

/// The bytes of attachments, over one connection. Throws `sqlite::failure` and
/// `damaged`.
class file_reader {
 public:
  explicit file_reader(sqlite::database& db);

  kept_files of_session(std::string_view session);

 private:
  sqlite::statement by_session_;
};

class file_writer {
 public:
  explicit file_writer(sqlite::database& db);

  /// What the session has of this digest stays.
  void add(const file_record& x);
  void remove_session(std::string_view session);

 private:
  sqlite::statement find_;
  sqlite::statement add_;
  sqlite::statement remove_session_;
};

}  // namespace riffle::storage
