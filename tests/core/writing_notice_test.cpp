// SPDX-License-Identifier: MIT
#include "actors/core/writing_notice.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace std::chrono_literals;

namespace {

call_fragment piece(const std::string& name, std::size_t bytes,
                    std::uint32_t index = 0) {
  call_fragment x;
  x.index = index;
  x.name = name;
  x.arguments.assign(bytes, 'x');
  return x;
}

}  // namespace

TEST_CASE("a call that is written for long is told now and then") {
  core::writing_notice notice;
  time_point now{};
  notice.on(piece("write", 10));
  CHECK_FALSE(notice.take(now));
  notice.on(piece("", 2000));
  CHECK_FALSE(notice.take(now += 999ms));
  CHECK(notice.take(now += 1ms) == "writing a call of write (1 KB)");
  notice.on(piece("", 10'000));
  CHECK_FALSE(notice.take(now += 999ms));
  CHECK(notice.take(now += 1ms) == "writing a call of write (11 KB)");
  // Another call counts for itself; a short one is not worth a word.
  notice.on(piece("read", 100, 1));
  CHECK_FALSE(notice.take(now += 10s));
  notice.on(piece("", 1024, 1));
  CHECK(notice.take(now += 1s) == "writing a call of read (1 KB)");
}

TEST_CASE("a call without a name yet is not told") {
  core::writing_notice notice;
  time_point now{};
  notice.on(piece("", 5000));
  CHECK_FALSE(notice.take(now));
  CHECK_FALSE(notice.take(now += 10s));
}
