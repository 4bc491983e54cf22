// SPDX-License-Identifier: MIT
#include "actors/core/circuit_breaker.hpp"

#include "tests/support/catch.hpp"

namespace {

using namespace riffle;
using namespace riffle::core;
using namespace std::chrono_literals;
using admission = circuit_breaker::admission;

constexpr time_point start{};

circuit_breaker make(std::uint32_t intensity = 2, std::uint32_t abandoned = 2) {
  return {"grep", {intensity, 60s, {100ms, 30s}, 45s, abandoned}};
}

/// Takes it out of service at `start`.
circuit_breaker broken() {
  auto s = make(0);
  CHECK_FALSE(s.on_crash(start, 0));
  return s;
}

}  // namespace

TEST_CASE("a tool in service takes every call") {
  auto s = make();
  for (int i = 0; i < 100; ++i) {
    CHECK(s.admit(start) == admission::run);
    s.on_success();
  }
  CHECK(s.is_closed());
}

TEST_CASE("a place rests after a crash, each time longer") {
  auto s = make(3);
  const auto first = s.on_crash(start, 0.5);
  const auto second = s.on_crash(start, 0.5);
  REQUIRE(first);
  REQUIRE(second);
  CHECK(*second == 2 * *first);
  CHECK(s.is_closed());
}

TEST_CASE("one crash more than the intensity takes a tool out of service") {
  auto s = make(2);
  CHECK(s.on_crash(start, 0));
  CHECK(s.on_crash(start + 1s, 0));
  CHECK_FALSE(s.on_crash(start + 2s, 0));
  CHECK_FALSE(s.is_closed());
  CHECK(s.admit(start + 3s) == admission::refuse);
  const auto why = s.why(start + 3s);
  CHECK(why.code == errc::tool_unavailable);
  CHECK(why.retryable);
  CHECK(why.message.find("`grep`") != std::string::npos);
  CHECK(why.message.find("more than 2 times within 60 s") != std::string::npos);
  CHECK(why.message.find("in 44 s") != std::string::npos);
}

TEST_CASE("crashes that are a period apart keep a tool in service") {
  auto s = make(1);
  for (int i = 0; i < 20; ++i) CHECK(s.on_crash(start + i * 61s, 0));
  CHECK(s.is_closed());
}

TEST_CASE("after the cool down one call is the trial and others wait") {
  auto s = broken();
  CHECK(s.admit(start + 45s - 1ns) == admission::refuse);
  CHECK(s.admit(start + 45s) == admission::run);
  CHECK(s.admit(start + 45s) == admission::wait);
  CHECK_FALSE(s.is_closed());

  SECTION("a good one brings the tool back") {
    s.on_success();
    CHECK(s.is_closed());
    CHECK(s.admit(start + 46s) == admission::run);
  }
  SECTION("a crash takes it out again for the whole time") {
    CHECK_FALSE(s.on_crash(start + 50s, 0));
    CHECK(s.admit(start + 94s) == admission::refuse);
    CHECK(s.why(start + 94s).message.find("tried") != std::string::npos);
    CHECK(s.admit(start + 95s) == admission::run);
  }
  SECTION("a stopped one says nothing: the next call is the trial") {
    s.on_undecided(start + 50s);
    CHECK_FALSE(s.is_closed());
    CHECK(s.admit(start + 50s) == admission::run);
    CHECK(s.admit(start + 50s) == admission::wait);
  }
  SECTION("one that ignores its stop takes it out again") {
    CHECK(s.on_abandoned(start + 50s));
    CHECK(s.admit(start + 94s) == admission::refuse);
  }
}

TEST_CASE("a trial that went well forgets the crashes before it") {
  auto s = make(1);
  CHECK(s.on_crash(start, 0));
  CHECK_FALSE(s.on_crash(start, 0));
  REQUIRE(s.admit(start + 45s) == admission::run);
  s.on_success();
  CHECK(s.on_crash(start + 46s, 0));
  CHECK(s.is_closed());
}

TEST_CASE("a crash of an older call cannot end a quarantine early") {
  auto s = broken();
  CHECK_FALSE(s.on_crash(start + 44s, 0));
  s.on_success();
  CHECK(s.admit(start + 44s) == admission::refuse);
  CHECK(s.admit(start + 45s) == admission::run);
}

TEST_CASE("more abandoned calls than allowed take a tool out of service") {
  auto s = make(5, 2);
  CHECK_FALSE(s.on_abandoned(start));
  CHECK_FALSE(s.on_abandoned(start));
  CHECK(s.is_closed());
  CHECK(s.on_abandoned(start));
  CHECK(s.abandoned() == 3);
  CHECK(s.why(start).message.find("3 of its calls") != std::string::npos);

  SECTION("there is no trial while they all still run") {
    CHECK(s.admit(start + 1h) == admission::refuse);
    s.on_returned();
    CHECK(s.admit(start + 1h) == admission::run);
  }
  SECTION("a return alone is no trial") {
    s.on_returned();
    CHECK(s.admit(start + 44s) == admission::refuse);
  }
}
