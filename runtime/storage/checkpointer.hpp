// SPDX-License-Identifier: MIT
#pragma once

// Copies the write-ahead log into the main file, on a thread and a connection
// of its own, so that no commit waits for the disk to do so.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/storage/journal.hpp"
#include "runtime/storage/sqlite.hpp"

namespace riffle::storage {

class checkpointer {
 public:
  struct options {
    durability mode = durability::process;
    /// Pages in the log at which copying begins; nobody waits for it.
    int pages = 4000;
    /// Pages at which writers wait until the log can begin anew, so that one
    /// that never pauses does not let it grow for ever.
    int most_pages = 16'000;
    /// Longest wait for readers then; next time again.
    std::chrono::milliseconds timeout{500};
    std::function<void(const std::string&)> on_note;
  };

  checkpointer(std::filesystem::path file, options how);
  ~checkpointer();
  checkpointer(const checkpointer&) = delete;
  checkpointer& operator=(const checkpointer&) = delete;

  /// After a commit that left so many pages in the log. Returns at once, unless
  /// the log is half as long again as it should ever be: then it waits for a
  /// copy, at most `timeout`. One thread at a time, which holds no lock of the
  /// file.
  void on_commit(int wal_pages);

  /// What was deleted stands in the log, too, until it is copied and cut: that
  /// is begun, and tried again while somebody reads. Returns at once; who ends
  /// this object waits for one try.
  void empty();

  /// How often it copied.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  /// A second apart.
  static constexpr int tries_to_empty = 60;

  struct progress {
    int pages = 0;   ///< in the log
    int copied = 0;  ///< of them
    bool busy = false;
  };

  bool await_copy();
  void work();
  bool copy(bool empty);
  progress run(int mode);
  void fail(const std::string& why);

  const std::filesystem::path file_;
  const options options_;
  std::unique_ptr<sqlite::database> db_;  ///< of the thread; made when needed
  int next_;                              ///< pages at which to ask again
  int next_restart_ = 0;                  ///< of the thread: likewise
  int next_wait_;                         ///< pages at which a commit waits
  bool told_reader_ = false;              ///< that one keeps it from copying
  std::atomic<bool> is_blocked_ = false;  ///< the last that should begin anew
  bool told_ = false;                     ///< of a failure, once in a row
  std::atomic<std::size_t> count_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::uint64_t begun_ = 0;  ///< copies
  std::uint64_t ended_ = 0;
  bool wanted_ = false;
  int empty_ = 0;  ///< tries that are left
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace riffle::storage
