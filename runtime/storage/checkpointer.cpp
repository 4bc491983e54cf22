// SPDX-License-Identifier: MIT
#include "runtime/storage/checkpointer.hpp"

#include <algorithm>
#include <pthread.h>
#include <utility>

namespace riffle::storage {

checkpointer::checkpointer(std::filesystem::path file, options how)
    : file_{std::move(file)},
      options_{std::move(how)},
      next_{options_.pages},
      next_wait_{options_.most_pages / 2 * 3},
      thread_{[this] { work(); }} {}

checkpointer::~checkpointer() {
  {
    std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void checkpointer::on_commit(int wal_pages) {
  if (wal_pages < options_.pages) {
    next_ = options_.pages;  // it began anew
    told_reader_ = false;
    next_wait_ = options_.most_pages / 2 * 3;
    return;
  }
  if (wal_pages >= next_wait_) {
    // A reader that stays lets it grow all the same: not each commit waits.
    const bool is_late = next_wait_ > options_.most_pages / 2 * 3;
    if (!await_copy()) return;  // it goes on: the next commit waits, too
    if (is_late && is_blocked_ && !std::exchange(told_reader_, true) &&
        options_.on_note)
      options_.on_note(file_.string() +
                       ": somebody who reads it and does not end keeps its "
                       "write-ahead log from being copied: it grows");
    next_wait_ = wal_pages / 2 * 3;
    return;
  }
  if (wal_pages < next_) return;
  next_ = wal_pages + options_.pages / 4 + 1;
  {
    std::lock_guard lock{mutex_};
    wanted_ = true;
  }
  wake_.notify_one();
}

/// One that begins from now on: an earlier one may have missed what is new.
bool checkpointer::await_copy() {
  std::unique_lock lock{mutex_};
  wanted_ = true;
  wake_.notify_one();
  const auto awaited = begun_ + 1;
  // Twice: a copy of ours waits for readers as long.
  return done_.wait_for(lock, 2 * options_.timeout,
                        [&] { return ended_ >= awaited || stopping_; });
}

void checkpointer::empty() {
  {
    std::lock_guard lock{mutex_};
    wanted_ = true;
    empty_ = tries_to_empty;
  }
  wake_.notify_one();
}

void checkpointer::work() {
  ::pthread_setname_np(::pthread_self(), "riffle.wal");
  std::unique_lock lock{mutex_};
  const auto is_due = [this] { return wanted_ || stopping_; };
  for (;;) {
    if (empty_ > 0)
      wake_.wait_for(lock, std::chrono::seconds{1}, is_due);
    else
      wake_.wait(lock, is_due);
    const bool empty = empty_ > 0;
    if (stopping_ && !(wanted_ && empty)) break;
    wanted_ = false;
    ++begun_;
    lock.unlock();
    bool again = false;
    try {
      again = !copy(empty);
    } catch (const std::exception& problem) {
      fail(problem.what());
    }
    lock.lock();
    if (empty && !wanted_) empty_ = again ? empty_ - 1 : 0;
    ended_ = begun_;
    done_.notify_all();
  }
  lock.unlock();
  db_.reset();
}

/// Passive: waits for nobody, and nobody waits. What a busy writer added
/// meanwhile stays for the next time, up to a limit. False: the log is not
/// empty, though it is to be.
bool checkpointer::copy(bool empty) {
  if (!db_) {
    db_ = std::make_unique<sqlite::database>(file_, options_.timeout);
    db_->execute(options_.mode == durability::disk
                     ? "PRAGMA synchronous = FULL"
                     : "PRAGMA synchronous = NORMAL");
  }
  bool done = true;
  const int pages = run(SQLITE_CHECKPOINT_PASSIVE).pages;
  if (pages >= std::max(options_.most_pages, next_restart_)) {
    is_blocked_ = run(SQLITE_CHECKPOINT_RESTART).busy;
    next_restart_ = is_blocked_ ? pages / 2 * 3 : 0;
  }
  if (empty) done = !run(SQLITE_CHECKPOINT_TRUNCATE).busy;
  ++count_;
  told_ = false;
  return done;
}

checkpointer::progress checkpointer::run(int mode) {
  progress x;
  const int code =
      sqlite3_wal_checkpoint_v2(db_->get(), nullptr, mode, &x.pages, &x.copied);
  // Busy: another process copies, or readers are in the way.
  x.busy = (code & 0xFF) == SQLITE_BUSY;
  if (code != SQLITE_OK && !x.busy) db_->fail(code);
  return x;
}

/// Nothing is lost by it: the log holds everything.
void checkpointer::fail(const std::string& why) {
  db_.reset();
  if (std::exchange(told_, true) || !options_.on_note) return;
  options_.on_note(file_.string() +
                   ": the write-ahead log cannot be copied and grows: " + why);
}

}  // namespace riffle::storage
