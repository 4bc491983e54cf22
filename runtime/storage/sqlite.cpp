// SPDX-License-Identifier: MIT
#include "runtime/storage/sqlite.hpp"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "runtime/base/locked_files.hpp"
#include "runtime/storage/read_errors.hpp"

namespace riffle::storage::sqlite {

namespace {

/// SQLite's own waits grow to 100 ms; two busy writers would starve each
/// other. Ours stay short. `timeout` is a number of milliseconds.
int wait_for_lock(void* timeout, int tries) noexcept {
  const auto waited = tries < 10 ? tries * (tries + 1) / 2
                                 : 55 + 10 * (std::intptr_t{tries} - 10);
  if (waited >= reinterpret_cast<std::intptr_t>(timeout)) return 0;
  std::this_thread::sleep_for(
      std::chrono::milliseconds{std::min(tries + 1, 10)});
  return 1;
}

/// The name as a URI that says so; only "%", "?" and "#" mean something in it.
std::string frozen_name(const std::string& file) {
  std::string out = "file:";
  for (const char c : file) {
    switch (c) {
      case '%': out += "%25"; break;
      case '?': out += "%3f"; break;
      case '#': out += "%23"; break;
      default: out += c;
    }
  }
  return out + "?immutable=1";
}

}  // namespace

database::locked::locked(std::string name) : file{std::move(name)} {
  hold_locked(file);
  hold_locked(file + "-shm");
}

database::locked::~locked() {
  if (file.empty()) return;
  release_locked(file + "-shm");
  release_locked(file);
}

database::database(const std::filesystem::path& file,
                   std::chrono::milliseconds timeout, access how)
    : locked_{file.string()} {
  sqlite3* raw = nullptr;
  const int mode = how == access::write
                       ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                       : SQLITE_OPEN_READONLY;
  const bool frozen = how == access::frozen;
  const auto name = frozen ? frozen_name(file.string()) : file.string();
  const int code =
      sqlite3_open_v2(name.c_str(), &raw,
                      mode | (frozen ? SQLITE_OPEN_URI : 0) |
                          SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                      layer_with_read_errors());
  handle_.reset(raw);
  if (raw == nullptr) throw failure{SQLITE_NOMEM, "out of memory"};
  if (code != SQLITE_OK) fail(code);
  sqlite3_busy_handler(
      raw, wait_for_lock,
      reinterpret_cast<void*>(static_cast<std::intptr_t>(timeout.count())));
  // What a damaged or foreign file may not do.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
}

void database::execute(const std::string& sql) {
  const int code = sqlite3_exec(get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::int64_t database::integer(const std::string& sql) {
  statement s{*this, sql};
  auto found = s.query();
  return found.next() ? found.integer(0) : 0;
}

void database::fail(int code) const {
  auto text = std::string{sqlite3_errmsg(get())} + " (sqlite " +
              std::to_string(code) + ")";
  const int kind = code & 0xFF;
  const int number = sqlite3_system_errno(get());
  if (number != 0 && (kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR))
    text += ", " + std::generic_category().message(number);
  throw failure{code, std::move(text)};
}

rows::~rows() {
  auto* handle = owner_->handle_.get();
  sqlite3_reset(handle);
}

bool rows::next() {
  const int code = sqlite3_step(owner_->handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) owner_->db_->fail(code);
  return false;
}

std::int64_t rows::integer(int column) const noexcept {
  return sqlite3_column_int64(owner_->handle_.get(), column);
}

std::string_view rows::bytes(int column) const noexcept {
  auto* handle = owner_->handle_.get();
  const auto* data =
      static_cast<const char*>(sqlite3_column_blob(handle, column));
  const auto size = sqlite3_column_bytes(handle, column);
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(size)};
}

statement::statement(database& db, std::string_view sql) : db_{&db} {
  sqlite3_stmt* raw = nullptr;
  const int code =
      sqlite3_prepare_v3(db.get(), sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  handle_.reset(raw);
  if (code != SQLITE_OK) db.fail(code);
}

void statement::bind(int index, std::string_view x) {
  check(sqlite3_bind_text64(handle_.get(), index,
                            x.data() == nullptr ? "" : x.data(), x.size(),
                            SQLITE_STATIC, SQLITE_UTF8));
}

void statement::bind(int index, blob x) {
  check(sqlite3_bind_blob64(handle_.get(), index,
                            x.bytes.data() == nullptr ? "" : x.bytes.data(),
                            x.bytes.size(), SQLITE_STATIC));
}

void statement::check(int code) const {
  if (code != SQLITE_OK) db_->fail(code);
}

transactions::transactions(database& db)
    : db_{&db},
      write_{db, "BEGIN IMMEDIATE"},
      read_{db, "BEGIN"},
      commit_{db, "COMMIT"} {}

transactions::scope transactions::begin_write() {
  write_.run();
  return scope{*this};
}

transactions::scope transactions::begin_read() {
  read_.run();
  return scope{*this};
}

void transactions::scope::commit() {
  owner_->commit_.run();
  open_ = false;
}

transactions::scope::~scope() {
  // Some failures have rolled back already; then there is nothing to do.
  auto* db = owner_->db_->get();
  if (open_ && sqlite3_get_autocommit(db) == 0)
    sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace riffle::storage::sqlite
