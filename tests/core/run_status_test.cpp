// SPDX-License-Identifier: MIT
#include "actors/core/run_status.hpp"

#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using namespace std::chrono_literals;

namespace {

struct stage {
  void on(const events::body& x) { status.on(x, now); }
  /// What is told after a while; "" if nothing.
  std::string later(duration while_ = 100ms) {
    now += while_;
    return status.take(now).value_or("");
  }

  core::run_status status;
  time_point now{};
};

events::tool_call call(const std::string& id) {
  events::tool_call x;
  x.id = {id};
  x.title = "Reading " + id;
  return x;
}

events::tool_result result(const std::string& id) {
  events::tool_result x;
  x.id = {id};
  return x;
}

}  // namespace

TEST_CASE("a status tells what a run waits for") {
  stage s;
  CHECK_FALSE(s.status.due());
  s.on(events::step_start{1, 3});
  CHECK(s.later() == "waiting for the model");
  s.status.on_text(true, s.now);
  CHECK(s.later() == "the model thinks");
  s.status.on_text(false, s.now);
  CHECK(s.later() == "the model writes");
  s.on(events::status{"writing big.py … 1.2k tokens"});
  CHECK(s.later() == "writing big.py … 1.2k tokens");
  CHECK(s.later().empty());  // it is no notice behind which the rest goes on
  s.on(call("a"));
  CHECK(s.later() == "Reading a");
  s.on(call("b"));
  s.on(call("c"));
  CHECK(s.later() == "Reading a and 2 more calls");
  s.on(result("a"));
  CHECK(s.later() == "Reading b and 1 more call");
  s.on(result("b"));
  s.on(result("c"));
  CHECK(s.later() == "waiting for the model");
  events::approval_required wanted;
  wanted.id = {"d"};
  s.on(wanted);
  CHECK(s.later() == "waiting for approval of 1 call");
  events::approval_resolved resolved;
  resolved.id = {"d"};
  s.on(resolved);
  CHECK(s.later() == "waiting for the model");
  s.on(events::retry{});
  CHECK(s.later() == "the model failed, asking again");
  s.on(events::step_restarted{});
  CHECK(s.later() == "waiting for the model");
}

TEST_CASE("a request that is held back does not wait for the model") {
  stage s;
  s.on(events::step_start{});
  CHECK(s.later() == "waiting for the model");
  s.on(events::status{"held back by the model's rate limit, next in 6s"});
  CHECK(s.later() == "held back by the model's rate limit, next in 6s");
  CHECK(s.later().empty());
  s.on(events::status{"waiting for the model"});
  CHECK(s.later() == "waiting for the model");
  events::retry again;
  again.reason = "HTTP 429: slow down";
  s.on(again);
  CHECK(s.later() == "refused by the model's rate limit, asking again");
}

TEST_CASE("a call that never begins does not run") {
  stage s;
  auto x = call("a");
  x.status = events::call_status::not_started;
  s.on(x);
  s.on(result("a"));
  CHECK_FALSE(s.status.due());
}

TEST_CASE("what is over at once is not told") {
  stage s;
  s.on(events::step_start{1, 3});
  CHECK(s.later() == "waiting for the model");
  s.on(call("a"));
  CHECK(s.status.due() == s.now + 100ms);
  CHECK(s.later(99ms).empty());
  s.on(result("a"));
  CHECK(s.later(1ms).empty());
  CHECK_FALSE(s.status.due());
}

TEST_CASE("after the end nothing is told") {
  for (const events::body& end :
       {events::body{events::final_answer{}}, events::body{events::failure{}},
        events::body{events::run_finished{}}}) {
    stage s;
    s.on(events::step_start{1, 3});
    s.on(end);
    CHECK_FALSE(s.status.due());
    CHECK(s.later().empty());
  }
}

TEST_CASE("two texts are never told within 100 ms, and the last one is told") {
  const auto seed = testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  stage s;
  std::optional<time_point> last;
  std::string told;
  const auto take = [&] {
    const auto text = s.status.take(s.now);
    if (!text) return;
    if (last) CHECK(s.now - *last >= 100ms);
    CHECK(*text != told);
    last = s.now;
    told = *text;
  };
  for (int i = 0; i < 5000; ++i) {
    s.now += std::chrono::milliseconds{random() % 40};
    const auto id = std::to_string(random() % 3);
    if (random() % 2 == 0)
      s.on(call(id));
    else
      s.on(result(id));
    if (s.status.due() && *s.status.due() <= s.now) take();
  }
  for (const std::string id : {"0", "1", "2"}) s.on(call(id));
  while (const auto due = s.status.due()) {
    s.now = std::max(s.now, *due);
    take();
  }
  CHECK(told.ends_with(" and 2 more calls"));
}

TEST_CASE("a notice is told at once, whatever follows it") {
  stage s;
  s.on(events::status{"made room"});
  s.on(events::step_start{1, 3});
  CHECK(s.later(0ms) == "made room");
  CHECK(s.later(50ms).empty());
  CHECK(s.later(50ms) == "waiting for the model");
  s.on(events::status{"again"});
  CHECK(s.later(99ms).empty());
  CHECK(s.later(1ms) == "again");
  // Of models that fail one after the other none is forgotten.
  s.on(events::status{"model a does not answer"});
  s.on(events::status{"model b does not answer"});
  CHECK(s.later(100ms) == "model a does not answer; model b does not answer");
  s.on(events::status{"made room"});
  s.on(events::status{"model c does not answer"});
  s.on(events::status{"model d does not answer"});
  s.on(events::status{"waited"});
  CHECK(s.later(100ms) == "made room");
  CHECK(s.later(100ms) == "model c does not answer; model d does not answer");
  CHECK(s.later(99ms).empty());
  CHECK(s.later(1ms) == "waited");
}

TEST_CASE("a notice that waits is told before the end of its run") {
  for (const events::body& end :
       {events::body{events::plan_finished{}},
        events::body{events::final_answer{}}, events::body{events::failure{}},
        events::body{events::run_finished{}}}) {
    stage s;
    s.on(events::status{"a is asked instead"});
    CHECK(s.later(0ms) == "a is asked instead");
    s.on(events::status{"b is asked instead"});
    CHECK(s.later(1ms).empty());
    s.on(events::status{"model c does not answer"});
    CHECK(
        s.status.last_notices(events::body{events::step_start{1, 3}}).empty());
    CHECK(s.status.last_notices(end) ==
          std::vector<std::string>{"b is asked instead",
                                   "model c does not answer"});
    s.on(end);
    CHECK(s.status.last_notices(events::body{events::run_finished{}}).empty());
    CHECK(s.later().empty());
  }
}
