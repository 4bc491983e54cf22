// SPDX-License-Identifier: MIT
#include "tests/storage/memory_fault.hpp"

#include <atomic>
#include <cstdlib>
#include <new>
#include <sqlite3.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace riffle::testing {

namespace {

std::atomic<std::uint64_t> fail_at{0};
std::atomic<std::uint64_t> count{0};
std::atomic<bool> for_good{false};
std::atomic<bool> failed{false};
std::atomic<bool> ours{false};
thread_local bool in_scope = false;

/// Whether this allocation is the one.
bool must_fail() {
  const auto at = fail_at.load(std::memory_order_relaxed);
  if (at == 0) return false;
  const auto n = ++count;
  if (n != at && !(for_good && n > at)) return false;
  failed = true;
  return true;
}

bool is_storage_thread() {
  return in_scope || ::syscall(SYS_gettid) != ::getpid();
}

sqlite3_mem_methods below;

void* take(int size) { return must_fail() ? nullptr : below.xMalloc(size); }

void* change(void* old, int size) {
  return must_fail() ? nullptr : below.xRealloc(old, size);
}

void* allocate(std::size_t size) {
  if (ours.load(std::memory_order_relaxed) && is_storage_thread() &&
      must_fail())
    return nullptr;
  return std::malloc(size == 0 ? 1 : size);
}

}  // namespace

void fail_memory_at(allocator whose, std::uint64_t at, bool good) {
  for_good = good;
  count = 0;
  if (whose == allocator::sqlite) {
    sqlite3_shutdown();
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &below);
    static sqlite3_mem_methods layer;
    layer = below;
    layer.xMalloc = take;
    layer.xRealloc = change;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &layer);
    // Its reserve of small pieces would hide most allocations.
    sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
    sqlite3_initialize();
  }
  ours = whose == allocator::ours;
  fail_at = at;
}

void stop_failing_memory() { fail_at = 0; }
bool memory_failed() { return failed; }
void begin_scope() { in_scope = true; }
void end_scope() { in_scope = false; }

}  // namespace riffle::testing

namespace {

/// Not inlined: g++ would warn of a `free` for what `new` gave.
[[gnu::noinline]] void give_back(void* p) { std::free(p); }

}  // namespace

void* operator new(std::size_t size) {
  if (void* p = riffle::testing::allocate(size)) return p;
  throw std::bad_alloc{};
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return riffle::testing::allocate(size);
}

void operator delete(void* p) noexcept { give_back(p); }
void operator delete(void* p, std::size_t) noexcept { give_back(p); }
