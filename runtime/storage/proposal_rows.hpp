// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/storage/proposal.hpp"
#include "runtime/storage/sqlite.hpp"

namespace riffle::storage {

/// Reads proposals and decisions. Throws `sqlite::failure` and `damaged`.
class proposal_reader {
 public:
  explicit proposal_reader(sqlite::database& db);

  std::optional<proposal_state> find(std::string_view id);
  /// In order of arrival.
  std::vector<proposal_state> of_session(std::string_view session);
  /// Newest first. Of all sessions' ones those that are damaged are left out
  /// and counted.
  std::vector<proposal_state> list(const proposal_filter& filter,
                                   std::size_t& left_out);
  std::optional<decision_record> decision(std::string_view id,
                                          std::string* executed_by = nullptr);
  /// As far as there are any. Damaged ones as above.
  std::vector<decision_record> decisions(const std::vector<proposal_id>& ids,
                                         std::size_t& left_out);

 private:
  proposal_state read(const sqlite::rows& from, const std::string& whose);
  void join(proposal_state& x);
  std::vector<proposal_state> newest(const proposal_filter& filter,
                                     std::size_t& left_out);

  sqlite::statement by_id_;
  sqlite::statement by_session_;
  sqlite::statement by_session_again_;
  sqlite::statement newest_;
  sqlite::statement newest_undecided_;
  sqlite::statement decision_;
  sqlite::statement decision_again_;
};

/// Writes them. A proposal is added once; the first decision stays.
class proposal_writer {
 public:
  explicit proposal_writer(sqlite::database& db);

  void add(const proposal_record& x);
  void add(const decision_record& x);
  /// Notes the run that an approved proposal caused.
  void note_execution(const decision_record& x, const std::string& run);
  void remove_session(std::string_view session);

 private:
  sqlite::statement add_proposal_;
  sqlite::statement add_decision_;
  sqlite::statement note_execution_;
  sqlite::statement delete_decisions_;
  sqlite::statement delete_proposals_;
};

}  // namespace riffle::storage
