// SPDX-License-Identifier: MIT
#include "tests/support/crash_vfs.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sqlite3.h>
#include <string>
#include <unistd.h>

namespace riffle::testing {

namespace {

std::atomic<std::uint64_t> operations{0};
std::atomic<std::uint64_t> kill_at{0};
std::atomic<std::uint64_t> fail_at{0};
std::atomic<int> fail_code{SQLITE_IOERR};
std::atomic<std::uint64_t> reads{0};
std::atomic<std::uint64_t> fail_read_at{0};
std::atomic<std::uint64_t> log_syncs{0};
std::atomic<std::uint64_t> early_writes{0};
std::atomic<bool> log_is_ahead{false};  ///< of what was synced
bool kill_after = false;
bool kill_torn = false;
std::string count_file;
std::string fail_while;
sqlite3_vfs* below = nullptr;

[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();  // until the signal is delivered
}

/// Counts an operation around `work`; `half` does half of a write.
template <class Work, class Half>
int counted(Work work, Half half) {
  const auto n = ++operations;
  const auto failing = fail_at.load();
  if (failing != 0 && n >= failing) return fail_code;
  if (!fail_while.empty() && ::access(fail_while.c_str(), F_OK) == 0)
    return fail_code;
  const bool fatal = n == kill_at.load();
  if (fatal && kill_torn) half();
  if (fatal && !kill_after) die();
  const int code = work();
  if (fatal) die();
  return code;
}

template <class Work>
int counted(Work work) {
  return counted(work, [] {});
}

/// Our file: this, then the file of the layer below.
struct file {
  sqlite3_file base;
  int flags;
};

sqlite3_file* lower(sqlite3_file* x) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<file*>(x) + 1);
}

const sqlite3_io_methods* methods(sqlite3_file* x) {
  return lower(x)->pMethods;
}

int close_file(sqlite3_file* x) { return methods(x)->xClose(lower(x)); }

bool is_kind(sqlite3_file* x, int kind) {
  return (reinterpret_cast<file*>(x)->flags & kind) != 0;
}

int read_file(sqlite3_file* x, void* to, int size, sqlite3_int64 at) {
  const auto failing = fail_read_at.load();
  if (++reads >= failing && failing != 0) return SQLITE_IOERR_CORRUPTFS;
  return methods(x)->xRead(lower(x), to, size, at);
}

int write_file(sqlite3_file* x, const void* from, int size, sqlite3_int64 at) {
  if (is_kind(x, SQLITE_OPEN_WAL)) log_is_ahead = true;
  if (is_kind(x, SQLITE_OPEN_MAIN_DB) && log_is_ahead) ++early_writes;
  return counted([&] { return methods(x)->xWrite(lower(x), from, size, at); },
                 [&] { methods(x)->xWrite(lower(x), from, size / 2, at); });
}

int truncate_file(sqlite3_file* x, sqlite3_int64 size) {
  return counted([&] { return methods(x)->xTruncate(lower(x), size); });
}

int sync_file(sqlite3_file* x, int flags) {
  if (is_kind(x, SQLITE_OPEN_WAL)) {
    ++log_syncs;
    log_is_ahead = false;
  }
  return counted([&] { return methods(x)->xSync(lower(x), flags); });
}

int file_size(sqlite3_file* x, sqlite3_int64* size) {
  return methods(x)->xFileSize(lower(x), size);
}

int lock_file(sqlite3_file* x, int level) {
  return methods(x)->xLock(lower(x), level);
}

int unlock_file(sqlite3_file* x, int level) {
  return methods(x)->xUnlock(lower(x), level);
}

int check_lock(sqlite3_file* x, int* result) {
  return methods(x)->xCheckReservedLock(lower(x), result);
}

int control_file(sqlite3_file* x, int op, void* argument) {
  return methods(x)->xFileControl(lower(x), op, argument);
}

int sector_size(sqlite3_file* x) { return methods(x)->xSectorSize(lower(x)); }

int characteristics(sqlite3_file* x) {
  return methods(x)->xDeviceCharacteristics(lower(x));
}

int map_memory(sqlite3_file* x, int page, int size, int extend,
               void volatile** to) {
  return counted(
      [&] { return methods(x)->xShmMap(lower(x), page, size, extend, to); });
}

int lock_memory(sqlite3_file* x, int offset, int n, int flags) {
  return methods(x)->xShmLock(lower(x), offset, n, flags);
}

void memory_barrier(sqlite3_file* x) { methods(x)->xShmBarrier(lower(x)); }

int unmap_memory(sqlite3_file* x, int remove) {
  return methods(x)->xShmUnmap(lower(x), remove);
}

// Version 2: without memory mapping of the file itself, so that all of its
// bytes pass through here.
constexpr sqlite3_io_methods own_methods{2,
                                         close_file,
                                         read_file,
                                         write_file,
                                         truncate_file,
                                         sync_file,
                                         file_size,
                                         lock_file,
                                         unlock_file,
                                         check_lock,
                                         control_file,
                                         sector_size,
                                         characteristics,
                                         map_memory,
                                         lock_memory,
                                         memory_barrier,
                                         unmap_memory,
                                         nullptr,
                                         nullptr};

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* x, int flags,
              int* out) {
  x->pMethods = nullptr;
  reinterpret_cast<file*>(x)->flags = flags;
  const int code = below->xOpen(below, name, lower(x), flags, out);
  if (lower(x)->pMethods != nullptr) x->pMethods = &own_methods;
  return code;
}

int delete_file(sqlite3_vfs*, const char* name, int sync) {
  return counted([&] { return below->xDelete(below, name, sync); });
}

std::uint64_t number(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

void write_count() {
  if (auto* out = std::fopen(count_file.c_str(), "w")) {
    std::fprintf(out, "%llu\n",
                 static_cast<unsigned long long>(operations.load()));
    std::fclose(out);
  }
}

void register_layer() {
  static sqlite3_vfs layer;
  if (below != nullptr) return;
  below = sqlite3_vfs_find(nullptr);
  layer = *below;
  layer.szOsFile = static_cast<int>(sizeof(file)) + below->szOsFile;
  layer.zName = "crash";
  layer.xOpen = open_file;
  layer.xDelete = delete_file;
  sqlite3_vfs_register(&layer, 1);
}

}  // namespace

void install_crash_vfs() {
  kill_at = number("RIFFLE_TEST_KILL_AT");
  fail_at = number("RIFFLE_TEST_FAIL_AT");
  kill_after = number("RIFFLE_TEST_KILL_AFTER") != 0;
  kill_torn = number("RIFFLE_TEST_KILL_TORN") != 0;
  const char* how = std::getenv("RIFFLE_TEST_FAIL");
  if (how != nullptr && std::strcmp(how, "ENOSPC") == 0)
    fail_code = SQLITE_FULL;
  if (const char* name = std::getenv("RIFFLE_TEST_FAIL_WHILE"))
    fail_while = name;
  if (const char* name = std::getenv("RIFFLE_TEST_COUNT_FILE")) {
    count_file = name;
    std::atexit(write_count);
  }
  if (kill_at != 0 || fail_at != 0 || !count_file.empty() ||
      !fail_while.empty())
    register_layer();
}

void fail_storage_at(std::uint64_t at, int code) {
  register_layer();
  operations = 0;
  fail_at = at;
  fail_code = code;
}

std::uint64_t storage_operations() { return operations; }

void fail_reads_at(std::uint64_t at) {
  register_layer();
  reads = 0;
  fail_read_at = at;
}

std::uint64_t storage_reads() { return reads; }

void watch_syncs() {
  register_layer();
  log_syncs = early_writes = 0;
  log_is_ahead = false;
}

sync_counts storage_syncs() { return {log_syncs, early_writes}; }

}  // namespace riffle::testing
