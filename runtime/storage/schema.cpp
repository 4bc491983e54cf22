// SPDX-License-Identifier: MIT
#include "runtime/storage/schema.hpp"

#include <array>
#include <span>

#include "runtime/storage/commit_log.hpp"

namespace riffle::storage {

namespace {

// The texts are compared with what the file holds, so they stand exactly as
// SQLite stores them. Why some indexes exist twice: see README.md.
constexpr std::array<std::string_view, 34> tables{
    "CREATE TABLE runs(n INTEGER PRIMARY KEY, id TEXT, session TEXT,"
    " ordinal INTEGER, state INTEGER, owner TEXT, crc INTEGER, data TEXT)",
    "CREATE UNIQUE INDEX runs_by_id ON runs(id)",
    "CREATE INDEX runs_by_id_again ON runs(id)",
    "CREATE UNIQUE INDEX runs_by_session ON runs(session, ordinal)",
    "CREATE INDEX runs_by_session_again ON runs(session, ordinal)",
    "CREATE UNIQUE INDEX runs_active ON runs(session) WHERE state = 0",
    "CREATE INDEX runs_first ON runs(n) WHERE ordinal = 1",
    "CREATE TABLE heads(n INTEGER PRIMARY KEY, last_seq INTEGER,"
    " messages INTEGER, calls INTEGER, crc INTEGER)",
    "CREATE TABLE blocks(key INTEGER PRIMARY KEY, last_seq INTEGER,"
    " crc INTEGER, lines BLOB, commits BLOB)",
    "CREATE TABLE messages(key INTEGER PRIMARY KEY, crc INTEGER, data TEXT)",
    "CREATE TABLE calls(key INTEGER PRIMARY KEY, crc INTEGER, data TEXT)",
    "CREATE TABLE outputs(n INTEGER PRIMARY KEY, id TEXT, crc INTEGER,"
    " text BLOB)",
    "CREATE UNIQUE INDEX outputs_by_id ON outputs(id)",
    "CREATE INDEX outputs_by_id_again ON outputs(id)",
    // Version 2:
    "CREATE TABLE proposals(n INTEGER PRIMARY KEY, id TEXT, session TEXT,"
    " crc INTEGER, data TEXT)",
    "CREATE UNIQUE INDEX proposals_by_id ON proposals(id)",
    "CREATE INDEX proposals_by_session ON proposals(session)",
    "CREATE INDEX proposals_by_session_again ON proposals(session)",
    "CREATE TABLE decisions(n INTEGER PRIMARY KEY, proposal TEXT, run TEXT,"
    " crc INTEGER, data TEXT)",
    "CREATE UNIQUE INDEX decisions_by_proposal ON decisions(proposal)",
    "CREATE INDEX decisions_by_proposal_again ON decisions(proposal)",
    // Version 3:
    "CREATE TABLE state(n INTEGER PRIMARY KEY, session TEXT, key TEXT,"
    " crc INTEGER, data TEXT)",
    "CREATE UNIQUE INDEX state_by_key ON state(session, key)",
    "CREATE INDEX state_by_session_again ON state(session)",
    "CREATE TABLE commands(n INTEGER PRIMARY KEY, run TEXT, crc INTEGER,"
    " reason TEXT)",
    "CREATE UNIQUE INDEX commands_by_run ON commands(run)",
    // Version 4:
    "CREATE TABLE grants(n INTEGER PRIMARY KEY, proposal TEXT, session TEXT,"
    " crc INTEGER, data TEXT)",
    "CREATE UNIQUE INDEX grants_by_proposal ON grants(proposal)",
    "CREATE INDEX grants_by_session ON grants(session)",
    // Version 5:
    "CREATE TABLE commits(n INTEGER PRIMARY KEY, crc INTEGER,"
    " directory BLOB, lines BLOB)",
    "CREATE TABLE log(n INTEGER PRIMARY KEY, first INTEGER, last INTEGER,"
    " bytes INTEGER, crc INTEGER)",
    // Version 6:
    "CREATE TABLE files(n INTEGER PRIMARY KEY, session TEXT, digest TEXT,"
    " crc INTEGER, data BLOB)",
    "CREATE UNIQUE INDEX files_by_digest ON files(session, digest)",
    // Version 7; in version 8 the column `last` holds `feed_place_of`:
    "CREATE TABLE feed(last INTEGER, key INTEGER, crc INTEGER,"
    " PRIMARY KEY(last, key)) WITHOUT ROWID",
};

/// What the table had before version 5, which adds a column at its end.
constexpr std::string_view blocks_before_5 =
    "CREATE TABLE blocks(key INTEGER PRIMARY KEY, last_seq INTEGER,"
    " crc INTEGER, lines BLOB)";
constexpr std::string_view blocks = tables[8];
static_assert(blocks.starts_with("CREATE TABLE blocks("));

/// How many of them a file of each older version has; from version 1.
constexpr std::array<std::size_t, 8> tables_of{14, 21, 26, 29, 31, 33, 34, 34};
constexpr std::size_t tables_of_4 = tables_of[3];
static_assert(tables_of.size() == schema_version &&
              tables_of.back() == tables.size());

/// Adds what a file with the first `present` tables lacks. Nothing that is
/// stored has to move: what older versions wrote lies where it is looked for.
void add_tables(sqlite::database& db, std::size_t present) {
  const bool has_log = present > tables_of_4;
  if (present != 0 && !has_log)
    db.execute("ALTER TABLE blocks ADD COLUMN commits BLOB");
  for (const auto sql : std::span{tables}.subspan(present))
    db.execute(std::string{sql});
  const log_extent none;
  if (!has_log)
    sqlite::statement{db, "INSERT INTO log VALUES(1, ?, ?, ?, ?)"}.run(
        none.first, none.last, none.bytes, crc_of(none));
  db.execute("PRAGMA user_version = " + std::to_string(schema_version));
}

void check_tables(sqlite::database& db, std::size_t present) {
  sqlite::statement list{db, "SELECT sql FROM sqlite_schema ORDER BY rowid"};
  auto found = list.query();
  for (auto sql : std::span{tables}.first(present)) {
    if (sql == blocks && present <= tables_of_4) sql = blocks_before_5;
    if (!found.next() || found.bytes(0) != sql)
      throw unusable_schema{true,
                            "its list of tables is damaged: restore the "
                            "file from a copy, or use another data_dir"};
  }
  if (found.next())
    throw unusable_schema{true, "it holds a table that is not Riffle's"};
}

unusable_schema newer(std::int64_t version) {
  return {false, "it was written by a newer Riffle (version " +
                     std::to_string(version) + ", this program knows " +
                     std::to_string(schema_version) +
                     "): use that program, or another data_dir"};
}

}  // namespace

void check_schema(sqlite::database& db) {
  if (db.integer("PRAGMA application_id") != application_id)
    throw unusable_schema{
        true, "it is no database of Riffle's: use another data_dir"};
  const auto version = db.integer("PRAGMA user_version");
  if (version > schema_version) throw newer(version);
  if (version < schema_version)
    throw unusable_schema{
        false,
        "it was written by an older Riffle and cannot be written, so it cannot "
        "be brought up to date: look at it as its owner, or at a copy"};
  check_tables(db, tables.size());
}

void prepare_schema(sqlite::database& db) {
  sqlite::transactions begin{db};
  auto scope = begin.begin_write();
  const auto version = db.integer("PRAGMA user_version");
  const auto id = db.integer("PRAGMA application_id");
  const auto count = db.integer("SELECT count(*) FROM sqlite_schema");
  if (version == 0 && id == 0 && count == 0) {
    db.execute("PRAGMA application_id = " + std::to_string(application_id));
    add_tables(db, 0);
  } else if (id != application_id) {
    throw unusable_schema{true,
                          "it is a database, but not Riffle's: use "
                          "another data_dir"};
  } else if (version > schema_version) {
    throw newer(version);
  } else if (version < 1) {
    throw unusable_schema{true, "its version is damaged"};
  } else if (version < schema_version) {
    const auto present = tables_of.at(static_cast<std::size_t>(version - 1));
    check_tables(db, present);
    add_tables(db, present);
  }
  check_tables(db, tables.size());
  scope.commit();
}

}  // namespace riffle::storage
