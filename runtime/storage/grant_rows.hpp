// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "runtime/storage/proposal.hpp"
#include "runtime/storage/sqlite.hpp"

namespace riffle::storage {

/// Reads what was approved once and for all. A row that an index has lost is
/// one that does not count: somebody is asked. Throws `sqlite::failure`.
class grant_reader {
 public:
  explicit grant_reader(sqlite::database& db);

  /// Oldest first; those that count in one session, or all. Damaged ones do
  /// not, and are counted.
  std::vector<grant_record> list(const std::optional<session_id>& of,
                                 std::size_t& left_out);

 private:
  sqlite::statement all_;
  sqlite::statement of_session_;
};

class grant_writer {
 public:
  explicit grant_writer(sqlite::database& db);

  void add(const grant_record& x);
  /// False: there is none.
  bool remove(std::string_view proposal);
  void remove_session(std::string_view session);

 private:
  sqlite::statement add_;
  sqlite::statement count_;
  sqlite::statement remove_;
  sqlite::statement remove_session_;
};

}  // namespace riffle::storage
