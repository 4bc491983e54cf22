// SPDX-License-Identifier: MIT
#pragma once

// How calls of the SQLite journal meet its exceptions; for its sources alone.

#include "runtime/storage/sqlite_journal.hpp"
#include "runtime/storage/storage_error.hpp"

namespace riffle::storage {

template <class F>
auto sqlite_journal::guarded(const char* op, F f) -> decltype(f()) {
  try {
    return f();
  } catch (const std::exception& problem) {
    return unexpected{describe_problem(op, file_, problem)};
  }
}

template <class T, class F>
expected<T> sqlite_journal::write(const char* op, F f) {
  expected<T> result{};
  auto failure = queue_.run([&] {
    result = guarded(op, [&]() -> expected<T> {
      if (auto why = suspended_.find_end()) return unexpected{*why};
      auto scope = writer_->transactions.begin_write();
      auto x = f();
      if (x) scope.commit();
      note_loss(x.has_value());
      return x;
    });
  });
  if (failure) return unexpected{std::move(*failure)};
  return result;
}

/// The same; where a damaged index keeps it from it, all are made anew, once.
template <class T, class F>
expected<T> sqlite_journal::write_mended(const char* op, F f) {
  auto x = write<T>(op, f);
  if (x || !is_malformed(x.error()) || reindexed_.exchange(true)) return x;
  note(file_.string() + ": " + x.error().message +
       ": the indexes are made anew");
  return write<T>(op, [&] {
    writer_->db.execute("REINDEX");
    return f();
  });
}

}  // namespace riffle::storage
