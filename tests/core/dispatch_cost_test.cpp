// SPDX-License-Identifier: MIT
// What happens to a call costs what it changes: eight times as many calls of a
// turn take about eight times as much CPU, whatever the calls are.
#include <algorithm>
#include <ctime>
#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/dispatch_queue.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace riffle::core;
using namespace std::chrono_literals;

namespace {

using call_maker = std::function<tool_call(std::size_t i, std::size_t n)>;

constexpr std::size_t many = 4'000;

tool_call make(std::size_t i, effect eff, std::vector<std::string> keys) {
  tool_call x;
  x.id = call_id{"call_" + std::to_string(i)};
  x.tool = eff == effect::read_only ? "read" : "write";
  x.arguments = std::to_string(i);
  x.eff = eff;
  x.keys = std::move(keys);
  x.limits.timeout = 30s;
  x.limits.queue_timeout = 600s;
  return x;
}

std::string path(std::size_t i) { return "/w/src/f" + std::to_string(i); }

/// 200 folders deep, and below them a folder for each call.
std::string deep_path(std::size_t i) {
  static const std::string deep = [] {
    std::string x;
    for (int n = 0; n < 200; ++n) x += "/folder" + std::to_string(n);
    return x;
  }();
  return deep + "/" + std::to_string(i) + "/file";
}

/// The outside of the queue: it does at once what it is asked for.
class obedient_world {
 public:
  obedient_world() : queue_{dispatch_limits{}} {}

  void take(dispatch_effects effects) {
    for (auto& x : effects) std::visit([this](auto& y) { see(y); }, x);
  }
  void answer_all(bool backwards) {
    while (!works_.empty() || !judged_.empty()) {
      while (!judged_.empty()) {
        const auto call = judged_.front();
        judged_.pop_front();
        ++judgements_;
        take(queue_.on_judged(
            call.id, {.place = *call.judged, .keys = call.keys}, now_));
      }
      if (works_.empty()) continue;
      const auto i = backwards ? works_.end() - 1 : works_.begin();
      const auto id = *i;
      works_.erase(i);
      take(queue_.on_started(id, 1, now_));
      take(queue_.on_result(id, 1, {}, 0, now_));
    }
  }
  void see(begin_call& x) {
    if (x.await_commit)
      take(queue_.on_intent_committed(x.call.id, x.attempt, now_));
  }
  void see(start_work& x) { works_.push_back(x.call.id); }
  void see(start_control& x) { works_.push_back(x.call.id); }
  void see(judge_start& x) { judged_.push_back(x.call); }
  void see(tell_queued&) {}
  void see(request_approval& x) { asked_.push_back(x.call); }
  void see(settle_call&) { ++settled_; }
  template <class Other>
  void see(const Other&) {}

  dispatch_queue queue_;
  time_point now_ = time_point{} + 1h;
  std::deque<call_id> works_;
  std::deque<tool_call> judged_;
  std::size_t judgements_ = 0;
  std::vector<tool_call> asked_;
  std::size_t settled_ = 0;
};

using story = std::function<void(obedient_world& x, std::size_t n)>;

/// A whole turn of `n` calls.
story turn_of(call_maker maker, bool backwards = false) {
  return [=](obedient_world& x, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      x.take(x.queue_.on_call(maker(i, n), x.now_));
    x.take(x.queue_.on_gate(true, x.now_));
    while (true) {
      for (const auto& call : std::exchange(x.asked_, {})) {
        auto edited = call;
        edited.keys.push_back("/w/other/" + call.id.value);
        x.take(x.queue_.on_edited(edited, x.now_));
      }
      if (x.works_.empty() && x.judged_.empty()) break;
      x.answer_all(backwards);
    }
  };
}

double cpu_of(const story& play, std::size_t n) {
  obedient_world x;
  timespec begin{};
  timespec end{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  play(x, n);
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  REQUIRE(x.settled_ == n);
  return static_cast<double>(end.tv_sec - begin.tv_sec) +
         static_cast<double>(end.tv_nsec - begin.tv_nsec) / 1e9;
}

/// Were it quadratic, the factor would be 64 in every round; a busy machine,
/// whose caches others use, spoils some of them. That each call is cheap, too,
/// is a bound far above what they take.
void check_cost(const story& play) {
  const double most = riffle::testing::scaled(1.0);
  auto few = std::numeric_limits<double>::max();
  auto all = few;
  for (int round = 0; round < 12 && (round < 3 || all >= few * 24); ++round) {
    few = std::min(few, cpu_of(play, many / 8));
    all = std::min(all, cpu_of(play, many));
  }
  WARN(many << " calls: " << all << " s of CPU");
  CAPTURE(few, all);
  CHECK(all < few * 24);
  CHECK(all < most);
}

}  // namespace

TEST_CASE("many reads of one turn cost what each costs") {
  SECTION("of one file") {
    check_cost(turn_of([](std::size_t i, std::size_t) {
      return make(i, effect::read_only, {path(0)});
    }));
  }
  SECTION("of many files, ending in the other order") {
    check_cost(turn_of(
        [](std::size_t i, std::size_t) {
          return make(i, effect::read_only, {path(i)});
        },
        true));
  }
  SECTION("and one write that touches all, in front of them") {
    check_cost(turn_of([](std::size_t i, std::size_t) {
      if (i == 0) return make(i, effect::mutating, {});
      return make(i, effect::read_only, {path(i)});
    }));
  }
  SECTION("and one write that touches all, behind them") {
    check_cost(turn_of(
        [](std::size_t i, std::size_t n) {
          if (i + 1 == n) return make(i, effect::mutating, {"/w"});
          return make(i, effect::read_only, {path(i)});
        },
        true));
  }
  SECTION("and control tools") {
    check_cost(turn_of([](std::size_t i, std::size_t) {
      auto x = make(i, effect::read_only, {path(i)});
      x.control = i % 2 == 0;
      return x;
    }));
  }
}

TEST_CASE("many calls of one turn that change something cost what each costs") {
  SECTION("anything") {
    check_cost(turn_of([](std::size_t i, std::size_t) {
      return make(i, effect::mutating, {});
    }));
  }
  SECTION("a file each, with reads of all in between") {
    check_cost(turn_of([](std::size_t i, std::size_t) {
      if (i % 2 == 0) return make(i, effect::mutating, {path(i)});
      return make(i, effect::read_only, {"/w"});
    }));
  }
  SECTION("a file each behind reads of other files") {
    check_cost(turn_of([](std::size_t i, std::size_t n) {
      if (i < n / 2) return make(i, effect::read_only, {path(i)});
      return make(i, effect::mutating, {"/w/lib/" + std::to_string(i)});
    }));
  }
  SECTION("far down in folders") {
    check_cost(turn_of([](std::size_t i, std::size_t) {
      const auto eff = i % 2 == 0 ? effect::mutating : effect::read_only;
      return make(i, eff, {deep_path(i % 2 == 0 ? i : 0)});
    }));
  }
  SECTION("each asked for and edited") {
    check_cost(turn_of([](std::size_t i, std::size_t) {
      const auto eff = i % 2 == 0 ? effect::mutating : effect::read_only;
      auto x = make(i, eff, {path(i)});
      x.needs_approval = i % 2 == 0;
      return x;
    }));
  }
}

TEST_CASE("the end of a turn with many open calls costs what each costs") {
  const auto drain = [](obedient_world& x, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      x.take(x.queue_.on_call(
          make(i, i % 3 == 0 ? effect::mutating : effect::read_only, {path(i)}),
          x.now_));
    x.take(x.queue_.on_drain(drain_reason::cancelled, x.now_));
    x.answer_all(false);
  };
  check_cost(drain);
}

TEST_CASE("time limits of many calls cost what each costs") {
  const auto expire = [](obedient_world& x, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      x.take(x.queue_.on_call(make(i, effect::read_only, {path(i)}), x.now_));
    while (const auto due = x.queue_.due()) {
      x.now_ = *due;
      x.take(x.queue_.tick(x.now_));
    }
  };
  check_cost(expire);
}

TEST_CASE("calls that recovery finds open cost what each costs") {
  const auto recover = [](obedient_world& x, std::size_t n) {
    std::vector<restored_call> open(n);
    std::vector<finished_read> finished(n);
    for (std::size_t i = 0; i < n; ++i) {
      open[i].call =
          make(i, i % 3 == 0 ? effect::mutating : effect::read_only, {path(i)});
      open[i].begun = open[i].announced = i < n / 2;
      open[i].attempt = i < n / 2 ? 1 : 0;
      finished[i] = {call_id{"old_" + std::to_string(i)}, "read",
                     std::to_string(i), "as it was"};
    }
    x.queue_.restore(std::move(open), std::move(finished));
    x.take(x.queue_.on_gate(true, x.now_));
    while (!x.works_.empty()) {
      const auto id = x.works_.front();
      x.works_.pop_front();
      for (std::uint32_t attempt = 1; attempt < 3; ++attempt)
        x.take(x.queue_.on_result(id, attempt, {}, 0, x.now_));
    }
  };
  check_cost(recover);
}

TEST_CASE("many reads are reused at the cost of each") {
  const auto again = [](obedient_world& x, std::size_t n) {
    std::vector<finished_read> finished(n);
    for (std::size_t i = 0; i < n; ++i)
      finished[i] = {call_id{"old_" + std::to_string(i)}, "read",
                     std::to_string(i), "as it was"};
    x.queue_.restore({}, std::move(finished));
    for (std::size_t i = 0; i < n; ++i)
      x.take(x.queue_.on_call(make(i, effect::read_only, {path(i)}), x.now_));
  };
  check_cost(again);
}

TEST_CASE("each call is judged about once, however many wait") {
  const auto judged = [](std::size_t i, std::size_t) {
    auto x = make(i, effect::read_only, {path(i)});
    x.judged = path(i);
    return x;
  };
  constexpr std::size_t n = 2'000;
  obedient_world x;
  turn_of(judged)(x, n);
  CHECK(x.settled_ == n);
  CHECK(x.judgements_ >= n);
  CHECK(x.judgements_ <= 2 * n);
  check_cost(turn_of(judged));
}
