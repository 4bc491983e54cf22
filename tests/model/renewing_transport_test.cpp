// SPDX-License-Identifier: MIT
#include "runtime/model/renewing_transport.hpp"

#include <deque>

#include "tests/model/fake_transport.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::model;
using riffle::testing::fake_transport;

namespace {

constexpr auto first = fake_transport::first_id;

class ear final : public transfer_listener {
 public:
  void on_bytes(std::string bytes) override { heard += bytes; }
  void on_end(transport_end x) override {
    ++ends;
    end = std::move(x);
  }

  std::string heard;
  int ends = 0;
  transport_end end;
};

/// Runs jobs when a test says so.
class manual_executor final : public executor {
 public:
  void submit(job work, queue_ticket, job) override {
    if (broken) throw std::runtime_error{"no thread"};
    jobs.push_back(std::move(work));
  }
  void run() {
    while (!jobs.empty()) {
      auto next = std::move(jobs.front());
      jobs.pop_front();
      next();
    }
  }

  bool broken = false;
  std::deque<job> jobs;
};

/// Keys are numbers; the request's URL ends with the one that it was sent with.
class numbered_keys final : public key_renewal {
 public:
  void put_key(transport_request& x) override { x.url += std::to_string(now); }
  bool renew(transport_request& x, const std::stop_token& stop) override {
    if (during) during();
    stopped = stop.stop_requested();
    if (now == last || stopped) return false;
    x.url = "k" + std::to_string(++now);
    return true;
  }

  int now = 1;
  int last = 2;
  std::function<void()> during;  ///< while it gets one
  bool stopped = false;
};

transport_end status(int x) {
  transport_end end;
  end.http_status = x;
  if (x >= 400)
    end.failure = error{errc::model_error, "", std::to_string(x), false, {}};
  return end;
}

struct world {
  transfer_id open() {
    transport_request request;
    request.url = "k";
    request.body = "body";
    request.credit = 100;
    return renewing->open(std::move(request), said);
  }
  [[nodiscard]] auto asked(std::size_t i) const { return inner->all().at(i); }

  std::shared_ptr<fake_transport> inner = std::make_shared<fake_transport>();
  std::shared_ptr<numbered_keys> keys = std::make_shared<numbered_keys>();
  std::shared_ptr<manual_executor> where = std::make_shared<manual_executor>();
  std::shared_ptr<transport> renewing =
      make_renewing_transport(inner, keys, where);
  std::shared_ptr<ear> said = std::make_shared<ear>();
};

}  // namespace

TEST_CASE("a key that is refused is got anew, once") {
  world w;
  w.open();
  w.inner->finish(first, status(401));
  CHECK(w.said->ends == 0);
  w.where->run();
  CHECK(w.inner->order() == "k1k2");
  SECTION("the new one is taken") {
    w.asked(1).listener->on_bytes("hello");
    w.inner->finish(first + 1, status(200));
    CHECK(w.said->heard == "hello");
    CHECK(w.said->end.http_status == 200);
  }
  SECTION("the new one is refused too") {
    w.inner->finish(first + 1, status(401));
    w.where->run();
    CHECK(w.said->end.http_status == 401);
    CHECK(w.inner->all().size() == 2);
  }
  CHECK(w.said->ends == 1);
}

TEST_CASE("without another key the refusal is the end") {
  world w;
  w.keys->last = 1;
  w.open();
  w.inner->finish(first, status(401));
  w.where->run();
  CHECK(w.said->ends == 1);
  CHECK(w.said->end.http_status == 401);
  CHECK(w.inner->all().size() == 1);
}

TEST_CASE("other failures, and answers, go through at once") {
  for (const int x : {200, 400, 403, 429, 500}) {
    world w;
    w.open();
    w.inner->finish(first, status(x));
    CHECK(w.said->ends == 1);
    CHECK(w.said->end.http_status == x);
    CHECK(w.where->jobs.empty());
  }
}

TEST_CASE("grants and cancels find the request that is open") {
  world w;
  const auto id = w.open();
  w.renewing->grant(id, 1);
  CHECK(w.asked(0).credit == 101);
  w.inner->finish(first, status(401));
  w.renewing->grant(id, 7);
  SECTION("granted in between") {
    w.where->run();
    CHECK(w.asked(1).credit == 107);
    w.renewing->grant(id, 2);
    CHECK(w.asked(1).credit == 109);
    w.renewing->cancel(id);
    CHECK(w.asked(1).cancelled);
  }
  SECTION("cancelled in between") {
    w.renewing->cancel(id);
    w.where->run();
    CHECK(w.keys->stopped);
    CHECK(w.inner->all().size() == 1);
  }
  SECTION("cancelled while the key is got") {
    w.keys->during = [&] { w.renewing->cancel(id); };
    w.where->run();
    CHECK(w.keys->stopped);
    CHECK(w.inner->all().size() == 1);
  }
  CHECK(w.said->ends == 1);
  CHECK(w.said->end.failure->code == errc::cancelled);
}

TEST_CASE("a refusal that comes before the number is known") {
  world w;
  w.inner->on_open = [&](transfer_id x) {
    if (x != first) return;
    w.inner->finish(x, status(401));
    w.where->run();
  };
  const auto id = w.open();
  REQUIRE(w.inner->all().size() == 2);
  w.renewing->grant(id, 5);
  CHECK(w.asked(0).credit == 100);
  CHECK(w.asked(1).credit == 105);
  w.renewing->cancel(id);
  CHECK(w.asked(1).cancelled);
  CHECK(w.said->ends == 1);
}

TEST_CASE("the end is told where no job runs") {
  world w;
  SECTION("the executor takes none") { w.where->broken = true; }
  SECTION("the executor drops it") {}
  w.open();
  w.inner->finish(first, status(401));
  w.where->jobs.clear();
  CHECK(w.said->ends == 1);
  CHECK(w.said->end.http_status == 401);
}

TEST_CASE("without its transport what is open is cancelled") {
  world w;
  w.open();
  w.renewing.reset();
  CHECK(w.said->ends == 1);
  CHECK(w.asked(0).cancelled);
}
