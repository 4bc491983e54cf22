// SPDX-License-Identifier: MIT
#pragma once

// A thin wrapper of SQLite's C interface. Inside this folder failures are
// exceptions; the port turns them into errors.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <sqlite3.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace riffle::storage::sqlite {

/// What SQLite said.
class failure : public std::runtime_error {
 public:
  failure(int code, const std::string& what)
      : std::runtime_error{what}, code_{code} {}

  /// The extended result code.
  [[nodiscard]] int code() const noexcept { return code_; }
  /// The file is damaged or no database.
  [[nodiscard]] bool is_corrupt() const noexcept {
    return (code_ & 0xFF) == SQLITE_CORRUPT || (code_ & 0xFF) == SQLITE_NOTADB;
  }

 private:
  int code_;
};

enum class access : std::uint8_t {
  write,   ///< the file is made if it is not there
  read,    ///< nothing is made or changed
  frozen,  ///< the same, and nobody else writes: no lock, no log is looked at
};

/// One connection, for one thread at a time. Waits at most `timeout` for
/// the locks of other processes.
class database {
 public:
  database(const std::filesystem::path& file, std::chrono::milliseconds timeout,
           access how = access::write);

  /// Runs one or more statements that return nothing of interest.
  void execute(const std::string& sql);
  /// The first column of the first row, 0 if there is none.
  std::int64_t integer(const std::string& sql);

  [[nodiscard]] sqlite3* get() const noexcept { return handle_.get(); }
  [[noreturn]] void fail(int code) const;

 private:
  /// Nothing else of this process opens its files
  /// (runtime/base/locked_files.hpp).
  struct locked {
    explicit locked(std::string name);
    ~locked();
    locked(locked&& x) noexcept : file{std::exchange(x.file, {})} {}
    locked& operator=(locked&&) = delete;

    std::string file;  ///< empty: moved from
  };
  struct closer {
    void operator()(sqlite3* x) const noexcept { sqlite3_close_v2(x); }
  };
  locked locked_;
  std::unique_ptr<sqlite3, closer> handle_;
};

class statement;

/// The rows of a started statement; resets it at the end of its life. Views
/// that it returns are valid until the next row.
class rows {
 public:
  explicit rows(statement& owner) noexcept : owner_{&owner} {}
  ~rows();
  rows(const rows&) = delete;
  rows& operator=(const rows&) = delete;

  /// Goes to the next row; false if there is none.
  bool next();

  [[nodiscard]] std::int64_t integer(int column) const noexcept;
  [[nodiscard]] std::uint64_t number(int column) const noexcept {
    return static_cast<std::uint64_t>(integer(column));
  }
  [[nodiscard]] std::string_view bytes(int column) const noexcept;
  [[nodiscard]] std::string text(int column) const {
    return std::string{bytes(column)};
  }

 private:
  statement* owner_;
};

/// Bytes to bind as they are (a BLOB); they must outlive the statement's run.
struct blob {
  std::string_view bytes;
};

/// A prepared statement, made once and used many times. Its database must
/// outlive it.
class statement {
 public:
  statement(database& db, std::string_view sql);

  /// Binds the parameters in order and runs it to its end.
  template <class... Ts>
  void run(const Ts&... parameters) {
    rows all{*this};
    bind_all(parameters...);
    while (all.next()) {
    }
  }

  /// Binds the parameters in order; texts must outlive the rows.
  template <class... Ts>
  rows query(const Ts&... parameters) {
    bind_all(parameters...);
    return rows{*this};
  }

 private:
  friend class rows;

  struct finalizer {
    void operator()(sqlite3_stmt* x) const noexcept { sqlite3_finalize(x); }
  };

  template <class... Ts>
  void bind_all(const Ts&... parameters) {
    int index = 0;
    (bind(++index, parameters), ...);
  }
  template <class T>
    requires std::is_integral_v<T>
  void bind(int index, T x) {
    check(sqlite3_bind_int64(handle_.get(), index,
                             static_cast<sqlite3_int64>(x)));
  }
  void bind(int index, std::string_view x);
  void bind(int index, blob x);
  void check(int code) const;

  database* db_;
  std::unique_ptr<sqlite3_stmt, finalizer> handle_;
};

/// BEGIN, COMMIT and ROLLBACK, prepared once.
class transactions {
 public:
  explicit transactions(database& db);

  /// Rolls back at the end of its life unless it was committed.
  class scope {
   public:
    explicit scope(transactions& owner) noexcept : owner_{&owner} {}
    ~scope();
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    void commit();

   private:
    transactions* owner_;
    bool open_ = true;
  };

  scope begin_write();
  scope begin_read();

 private:
  database* db_;
  statement write_;
  statement read_;
  statement commit_;
};

}  // namespace riffle::storage::sqlite
