// SPDX-License-Identifier: MIT
#include "runtime/storage/reader_pool.hpp"

#include <utility>

namespace riffle::storage {

namespace {

sqlite::database open_reader(const std::filesystem::path& file,
                             std::chrono::milliseconds timeout,
                             sqlite::access how) {
  sqlite::database db{file, timeout, how};
  db.execute("PRAGMA query_only = ON; PRAGMA cell_size_check = ON");
  return db;
}

}  // namespace

read_connection::read_connection(const std::filesystem::path& file,
                                 std::chrono::milliseconds timeout,
                                 sqlite::access how)
    : db{open_reader(file, timeout, how)}, transactions{db}, rows{db} {}

reader_pool::reader_pool(std::filesystem::path file, std::size_t limit,
                         std::chrono::milliseconds timeout, sqlite::access how)
    : file_{std::move(file)}, limit_{limit}, timeout_{timeout}, how_{how} {}

std::unique_ptr<read_connection> reader_pool::take() {
  std::unique_lock lock{mutex_};
  const bool in_time = free_.wait_for(
      lock, timeout_, [this] { return !idle_.empty() || open_ < limit_; });
  if (!in_time)
    throw sqlite::failure{SQLITE_BUSY, "all reading connections are busy"};
  if (!idle_.empty()) {
    auto x = std::move(idle_.back());
    idle_.pop_back();
    return x;
  }
  ++open_;
  lock.unlock();
  try {
    return std::make_unique<read_connection>(file_, timeout_, how_);
  } catch (...) {
    give_back(nullptr);
    throw;
  }
}

void reader_pool::give_back(std::unique_ptr<read_connection> x) {
  {
    std::lock_guard lock{mutex_};
    if (x)
      idle_.push_back(std::move(x));
    else
      --open_;
  }
  free_.notify_one();
}

}  // namespace riffle::storage
