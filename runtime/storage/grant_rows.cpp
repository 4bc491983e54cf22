// SPDX-License-Identifier: MIT
#include "runtime/storage/grant_rows.hpp"

#include "runtime/storage/crc32c.hpp"
#include "runtime/storage/record_json.hpp"
#include "runtime/storage/rows.hpp"

namespace riffle::storage {

namespace {

std::uint32_t crc_of_grant(std::string_view proposal, std::string_view session,
                           std::string_view data) {
  return row_crc{}.add("grant").add(proposal).add(session).add(data).value();
}

}  // namespace

grant_reader::grant_reader(sqlite::database& db)
    : all_{db, "SELECT proposal, session, crc, data FROM grants ORDER BY n"},
      of_session_{db,
                  "SELECT proposal, session, crc, data FROM grants INDEXED BY "
                  "grants_by_session WHERE session IN (?, '') ORDER BY n"} {}

std::vector<grant_record> grant_reader::list(
    const std::optional<session_id>& of, std::size_t& left_out) {
  std::vector<grant_record> all;
  auto found = of ? of_session_.query(of->value) : all_.query();
  while (found.next()) {
    // What is damaged allows nothing: the next call is asked about.
    if (crc_of_grant(found.bytes(0), found.bytes(1), found.bytes(3)) ==
        found.number(2))
      all.push_back(grant_from_json(found.bytes(3)));
    else
      ++left_out;
  }
  return all;
}

grant_writer::grant_writer(sqlite::database& db)
    : add_{db,
           "INSERT INTO grants(proposal, session, crc, data) "
           "VALUES(?, ?, ?, ?) ON CONFLICT(proposal) DO NOTHING"},
      count_{db, "SELECT count(*) FROM grants NOT INDEXED WHERE proposal = ?"},
      remove_{db, "DELETE FROM grants NOT INDEXED WHERE proposal = ?"},
      remove_session_{db, "DELETE FROM grants WHERE session = ?"} {}

void grant_writer::add(const grant_record& x) {
  const auto data = to_json(x);
  add_.run(x.proposal.value, x.session.value,
           crc_of_grant(x.proposal.value, x.session.value, data), data);
}

/// By the table itself: an index that has lost the row must not keep it.
bool grant_writer::remove(std::string_view proposal) {
  bool there = false;
  {
    auto found = count_.query(proposal);
    there = found.next() && found.integer(0) != 0;
  }
  if (there) remove_.run(proposal);
  return there;
}

void grant_writer::remove_session(std::string_view session) {
  remove_session_.run(session);
}

}  // namespace riffle::storage
