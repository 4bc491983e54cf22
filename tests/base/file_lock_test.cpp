// SPDX-License-Identifier: MIT
#include "runtime/base/file_lock.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <thread>
#include <unistd.h>

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace std::chrono_literals;

namespace {

/// A file that goes with the object.
struct scratch_file {
  scratch_file() { unique_fd{::mkstemp(name.data())}; }
  ~scratch_file() { ::unlink(name.c_str()); }
  [[nodiscard]] unique_fd open() const {
    return unique_fd{::open(name.c_str(), O_RDWR | O_CLOEXEC)};
  }
  std::string name = "/tmp/riffle-lock-XXXXXX";
};

time_point in(duration x) { return std::chrono::steady_clock::now() + x; }

}  // namespace

TEST_CASE("a lock is held by one, or shared, until its descriptor ends") {
  const scratch_file file;
  auto first = file.open();
  const auto second = file.open();
  REQUIRE(try_lock(first, lock_kind::shared));
  CHECK(try_lock(second, lock_kind::shared));
  CHECK_FALSE(try_lock(first, lock_kind::exclusive));
  CHECK(errno == EWOULDBLOCK);
  first.reset();
  CHECK(try_lock(second, lock_kind::exclusive));
}

TEST_CASE("a wait for a lock ends with it, or in time") {
  const scratch_file file;
  auto holder = file.open();
  const auto waiter = file.open();
  REQUIRE(try_lock(holder, lock_kind::exclusive));
  const auto begin = std::chrono::steady_clock::now();
  CHECK_FALSE(lock_until(waiter, lock_kind::exclusive, in(30ms)));
  CHECK(errno == EWOULDBLOCK);
  CHECK(std::chrono::steady_clock::now() - begin >= 30ms);
  std::thread other{[&] {
    std::this_thread::sleep_for(20ms);
    holder.reset();
  }};
  CHECK(lock_until(waiter, lock_kind::exclusive, in(30s)));
  other.join();
}

TEST_CASE("what is no file cannot be locked, without a wait") {
  CHECK_FALSE(lock_until(unique_fd{}, lock_kind::shared, in(1h)));
  CHECK(errno == EBADF);
}

TEST_CASE("a name that leads elsewhere is seen") {
  const scratch_file file;
  const auto fd = file.open();
  CHECK(leads_to(file.name, fd));
  ::unlink(file.name.c_str());
  CHECK_FALSE(leads_to(file.name, fd));
  const unique_fd fresh{::open(file.name.c_str(), O_RDWR | O_CREAT, 0600)};
  CHECK_FALSE(leads_to(file.name, fd));
}
