// SPDX-License-Identifier: MIT
#include "runtime/storage/state_rows.hpp"

#include "runtime/storage/crc32c.hpp"
#include "runtime/storage/rows.hpp"

namespace riffle::storage {

namespace {

std::uint32_t crc_of_state(std::string_view session, std::string_view key,
                           std::string_view data) {
  return row_crc{}.add("state").add(session).add(key).add(data).value();
}

std::uint32_t crc_of_command(std::string_view run, std::string_view reason) {
  return row_crc{}.add("command").add(run).add(reason).value();
}

}  // namespace

state_reader::state_reader(sqlite::database& db)
    : by_session_{db,
                  "SELECT key, crc, data FROM state INDEXED BY state_by_key "
                  "WHERE session = ?"},
      by_session_again_{db,
                        "SELECT count(*) FROM state INDEXED BY "
                        "state_by_session_again WHERE session = ?"},
      cancels_{db,
               "SELECT c.run, c.crc, c.reason FROM commands AS c JOIN runs AS "
               "r ON r.id = c.run WHERE r.state = 0 AND r.owner = ?"} {}

std::map<std::string, std::string> state_reader::of_session(
    const session_id& session) {
  const auto whose = "session " + session.value;
  std::map<std::string, std::string> all;
  {
    auto found = by_session_.query(session.value);
    while (found.next()) {
      const auto key = found.bytes(0);
      if (crc_of_state(session.value, key, found.bytes(2)) != found.number(1))
        throw damaged{whose, "a value of its state fails its checksum"};
      all.emplace(key, found.text(2));
    }
  }
  auto again = by_session_again_.query(session.value);
  if (!again.next() || again.number(0) != all.size())
    throw damaged{whose, "an index has lost a value of its state"};
  return all;
}

std::vector<cancel_request> state_reader::cancels_for(std::string_view owner) {
  std::vector<cancel_request> all;
  auto found = cancels_.query(owner);
  while (found.next()) {
    cancel_request x{{found.text(0)}, found.text(2)};
    // What is damaged asks nothing of a run, and must not hide the others.
    if (crc_of_command(x.run.value, x.reason) == found.number(1))
      all.push_back(std::move(x));
  }
  return all;
}

state_writer::state_writer(sqlite::database& db)
    : put_{db,
           "INSERT INTO state(session, key, crc, data) VALUES(?1, ?2, ?3, ?4) "
           "ON CONFLICT(session, key) DO UPDATE SET crc = ?3, data = ?4"},
      remove_{db, "DELETE FROM state WHERE session = ? AND key = ?"},
      remove_session_{db, "DELETE FROM state WHERE session = ?"},
      add_cancel_{db,
                  "INSERT INTO commands(run, crc, reason) VALUES(?, ?, ?) "
                  "ON CONFLICT(run) DO NOTHING"},
      remove_cancel_{db, "DELETE FROM commands WHERE run = ?"} {}

void state_writer::put(const state_value& x) {
  if (x.value.empty())
    remove_.run(x.session.value, x.key);
  else
    put_.run(x.session.value, x.key,
             crc_of_state(x.session.value, x.key, x.value), x.value);
}

void state_writer::add(const cancel_request& x) {
  add_cancel_.run(x.run.value, crc_of_command(x.run.value, x.reason), x.reason);
}

void state_writer::remove_cancel(std::string_view run) {
  remove_cancel_.run(run);
}

void state_writer::remove_session(std::string_view session) {
  remove_session_.run(session);
}

}  // namespace riffle::storage
