// SPDX-License-Identifier: MIT
// Many workers at a server that refuses what is too much, in simulated time.
#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <random>

#include "runtime/model/rate_limiter.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace std::chrono_literals;
using riffle::duration;
using riffle::time_point;
using riffle::model::rate_limiter;

namespace {

/// Nothing: it takes the request; else how long it wants none.
using judge = std::function<std::optional<duration>(time_point)>;

/// So many from the first one on, then as many anew.
judge in_windows(int most, duration length) {
  return [=, begin = time_point{},
          n = 0](time_point now) mutable -> std::optional<duration> {
    if (now >= begin + length) {
      begin = now;
      n = 0;
    }
    if (n++ < most) return {};
    return begin + length - now;
  };
}

/// So many in any time of that length.
judge sliding(int most, duration length) {
  return [=, taken = std::deque<time_point>{}](
             time_point now) mutable -> std::optional<duration> {
    while (!taken.empty() && taken.front() + length <= now) taken.pop_front();
    if (static_cast<int>(taken.size()) >= most)
      return taken.front() + length - now;
    taken.push_back(now);
    return {};
  };
}

/// A bucket of tokens that is filled all the time.
judge bucket(double most, double each_second) {
  return [=, tokens = most, last = time_point{}](
             time_point now) mutable -> std::optional<duration> {
    const std::chrono::duration<double> since = now - last;
    tokens = std::min(most, tokens + each_second * since.count());
    last = now;
    if (tokens < 1)
      return std::chrono::ceil<duration>(
          std::chrono::duration<double>((1 - tokens) / each_second));
    tokens -= 1;
    return {};
  };
}

struct outcome {
  int refused = 0;
  int most_tries = 1;  ///< of one request
  duration took{};
};

struct setup {
  int workers = 4;
  int requests = 200;
  duration answer = 20ms;
  bool whole_seconds = false;  ///< in `Retry-After`
};

/// Each worker asks, waits for its answer, and asks again.
class crowd {
 public:
  crowd(setup how, judge server) : how_{how}, server_{std::move(server)} {}

  outcome run() {
    for (int i = 0; i < how_.workers; ++i) next(i);
    while (left_done() && !due_.empty()) {
      auto job = due_.extract(due_.begin());
      now_ = job.key();
      job.mapped()();
    }
    REQUIRE(done_ == how_.requests);
    out_.took = now_ - time_point{};
    return out_;
  }

 private:
  [[nodiscard]] bool left_done() const { return done_ < how_.requests; }
  void at(duration later, std::function<void()> job) {
    due_.emplace(now_ + later, std::move(job));
  }
  /// On the wire, and in between.
  duration some(int us) {
    return std::chrono::microseconds{
        std::uniform_int_distribution<int>{us / 10, us}(random_)};
  }

  void next(int worker) {
    if (begun_++ >= how_.requests) return;
    tries_[worker] = 1;
    at(some(5000), [this, worker] { ask(worker); });
  }
  void ask(int worker) {
    const bool again = tries_[worker] > 1;
    if (gate_.try_start(now_, again)) return send(worker);
    gate_.wait(++last_, now_ + 24h, again);
    waiting_[last_] = worker;
    look();
  }
  /// What the timer does.
  void look() {
    for (const auto id : gate_.poll(now_).started) send(waiting_[id]);
    if (const auto when = gate_.next(); when && *when > now_)
      at(*when - now_, [this] { look(); });
  }
  void send(int worker) {
    const auto begun = now_;
    at(some(3000), [this, worker, begun] {
      auto wait = server_(now_);
      if (wait && how_.whole_seconds)
        wait = std::chrono::ceil<std::chrono::seconds>(*wait);
      at(some(3000), [this, worker, begun, wait] {
        if (wait) return refused(worker, begun, *wait);
        gate_.accept(begun);
        at(how_.answer, [this, worker] { answered(worker); });
      });
    });
  }
  void refused(int worker, time_point begun, duration wait) {
    ++out_.refused;
    out_.most_tries = std::max(out_.most_tries, ++tries_[worker]);
    gate_.refuse(begun, wait, now_);
    gate_.on_end();
    at(wait + some(500000), [this, worker] { ask(worker); });
    look();
  }
  void answered(int worker) {
    gate_.on_end(true);
    ++done_;
    next(worker);
    look();
  }

  const setup how_;
  judge server_;
  rate_limiter gate_{{16, 0, true}};
  std::mt19937 random_{riffle::testing::fresh_seed()};
  time_point now_{};
  std::multimap<time_point, std::function<void()>> due_;
  std::map<int, int> tries_;
  std::map<rate_limiter::ticket, int> waiting_;
  rate_limiter::ticket last_ = 0;
  int begun_ = 0;
  int done_ = 0;
  outcome out_;
};

}  // namespace

TEST_CASE("a server is asked for as much as it takes, and for little more") {
  struct sample {
    const char* name;
    std::function<judge()> server;
    duration ideal;  ///< of 200 requests
  };
  const std::vector<sample> samples{
      {"10 in each second", [] { return in_windows(10, 1s); }, 19s},
      {"4 in each 10 s", [] { return in_windows(4, 10s); }, 490s},
      {"60 in each minute", [] { return in_windows(60, 60s); }, 180s},
      {"10 in any second", [] { return sliding(10, 1s); }, 19s},
      {"4 in any 10 s", [] { return sliding(4, 10s); }, 490s},
      {"60 in any minute", [] { return sliding(60, 60s); }, 180s},
      {"a bucket of 10, 10 a second", [] { return bucket(10, 10); }, 19s},
      {"a bucket of 10, 1 a second", [] { return bucket(10, 1); }, 190s},
      {"a bucket of 60, 1 a second", [] { return bucket(60, 1); }, 140s},
  };
  for (const auto& x : samples)
    for (const bool whole_seconds : {false, true}) {
      const auto out =
          crowd{{.whole_seconds = whole_seconds}, x.server()}.run();
      CAPTURE(x.name, whole_seconds, out.refused, out.most_tries, out.took);
      CHECK(out.refused > 0);
      CHECK(out.refused <= 20);  // a tenth
      CHECK(out.most_tries <= 3);
      CHECK(out.took <= x.ideal * 13 / 10);
    }
}

TEST_CASE("answers that take long do not make the workers crawl") {
  // 12 requests, four at once, at a server that takes four in 10 s.
  const auto out = crowd{{.workers = 4, .requests = 12, .answer = 1500ms},
                         in_windows(4, 10s)}
                       .run();
  CAPTURE(out.refused);
  CHECK(out.took <= (20s + 1500ms) * 13 / 10);
  CHECK(out.refused <= 5);
}
