// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/storage/row_reader.hpp"
#include "runtime/storage/sqlite.hpp"

namespace riffle::storage {

/// A reading connection with its statements.
struct read_connection {
  read_connection(const std::filesystem::path& file,
                  std::chrono::milliseconds timeout, sqlite::access how);

  sqlite::database db;
  sqlite::transactions transactions;
  row_reader rows;
};

/// Reading connections, opened when they are needed, at most `limit`; who
/// comes then waits for one, at most `timeout`. Thread-safe.
class reader_pool {
 public:
  reader_pool(std::filesystem::path file, std::size_t limit,
              std::chrono::milliseconds timeout,
              sqlite::access how = sqlite::access::write);

  /// Calls `f(row_reader&)` within one read transaction and returns what it
  /// returns. Throws what it throws, and `sqlite::failure`.
  template <class F>
  auto read(F f) {
    lease x{*this};
    auto scope = x.connection->transactions.begin_read();
    return f(x.connection->rows);
  }

 private:
  struct lease {
    explicit lease(reader_pool& from) : owner{from}, connection{from.take()} {}
    ~lease() { owner.give_back(std::move(connection)); }
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;

    reader_pool& owner;
    std::unique_ptr<read_connection> connection;
  };

  std::unique_ptr<read_connection> take();
  void give_back(std::unique_ptr<read_connection> x);

  const std::filesystem::path file_;
  const std::size_t limit_;
  const std::chrono::milliseconds timeout_;
  const sqlite::access how_;
  std::mutex mutex_;
  std::condition_variable free_;
  std::vector<std::unique_ptr<read_connection>> idle_;
  std::size_t open_ = 0;
};

}  // namespace riffle::storage
