// SPDX-License-Identifier: MIT
#include "runtime/storage/file_rows.hpp"

#include <memory>
#include <string>
#include <utility>

#include "runtime/storage/crc32c.hpp"
#include "runtime/storage/rows.hpp"

namespace riffle::storage {

namespace {

std::uint32_t crc_of_file(std::string_view session, std::string_view digest,
                          std::string_view bytes) {
  return row_crc{}.add("file").add(session).add(digest).add(bytes).value();
}

}  // namespace

file_reader::file_reader(sqlite::database& db)
    : by_session_{db,
                  "SELECT digest, crc, data FROM files INDEXED BY "
                  "files_by_digest WHERE session = ?"} {}

// One that is lost has no row: who needs it says so in its place.
kept_files file_reader::of_session(std::string_view session) {
  kept_files all;
  auto found = by_session_.query(session);
  while (found.next()) {
    auto digest = found.text(0);
    const auto bytes = found.bytes(2);
    if (crc_of_file(session, digest, bytes) != found.number(1))
      throw damaged{"session " + std::string{session},
                    "an attachment fails its checksum"};
    all.emplace(std::move(digest), std::make_shared<const std::string>(bytes));
  }
  return all;
}

// Looked for first: a picture that is known is not copied into a statement.
file_writer::file_writer(sqlite::database& db)
    : find_{db,
            "SELECT 1 FROM files INDEXED BY files_by_digest WHERE session = ? "
            "AND digest = ?"},
      add_{db,
           "INSERT INTO files(session, digest, crc, data) VALUES(?, ?, ?, ?)"},
      remove_session_{db, "DELETE FROM files WHERE session = ?"} {}

void file_writer::add(const file_record& x) {
  {
    auto found = find_.query(x.session.value, x.digest);
    if (found.next()) return;
  }
  add_.run(x.session.value, x.digest,
           crc_of_file(x.session.value, x.digest, *x.bytes),
           sqlite::blob{*x.bytes});
}

void file_writer::remove_session(std::string_view session) {
  remove_session_.run(session);
}

}  // namespace riffle::storage
