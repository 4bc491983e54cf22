// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/storage/journal.hpp"
#include "runtime/storage/sqlite.hpp"

namespace riffle::storage {

/// The values that sessions keep, and what other processes ask of the owners
/// of runs. Reads and writes over one connection. Throws `sqlite::failure` and
/// `damaged`.
class state_reader {
 public:
  explicit state_reader(sqlite::database& db);

  std::map<std::string, std::string> of_session(const session_id& session);
  /// For the active runs of this owner. Damaged ones are left out.
  std::vector<cancel_request> cancels_for(std::string_view owner);

 private:
  sqlite::statement by_session_;
  sqlite::statement by_session_again_;
  sqlite::statement cancels_;
};

class state_writer {
 public:
  explicit state_writer(sqlite::database& db);

  /// An empty value removes the key.
  void put(const state_value& x);
  /// The first one about a run stays.
  void add(const cancel_request& x);
  /// The run has ended: nothing is asked of it any more.
  void remove_cancel(std::string_view run);
  void remove_session(std::string_view session);

 private:
  sqlite::statement put_;
  sqlite::statement remove_;
  sqlite::statement remove_session_;
  sqlite::statement add_cancel_;
  sqlite::statement remove_cancel_;
};

}  // namespace riffle::storage
