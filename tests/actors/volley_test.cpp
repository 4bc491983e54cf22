// SPDX-License-Identifier: MIT
// The scheduler of a volley: what it asks of its port, under simulated time.
#include "actors/process/volley_scheduler.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

struct recording_port final : volley_port {
  void start(std::size_t task, std::uint32_t attempt) override {
    said.push_back("start " + std::to_string(task) + "." +
                   std::to_string(attempt));
  }
  void cancel(std::size_t task, const std::string& reason) override {
    said.push_back("cancel " + std::to_string(task) + " " + reason);
  }
  void over(std::size_t task, bool ran, bool left) override {
    said.push_back((left  ? "left "
                    : ran ? "over "
                          : "not run ") +
                   std::to_string(task));
  }
  void all_over(const std::optional<std::string>& failure) override {
    if (!std::exchange(closed, true))
      said.push_back("all over" + (failure ? ": " + *failure : ""));
  }
  std::vector<std::string> take() { return std::exchange(said, {}); }
  std::vector<std::string> said;
  bool closed = false;
};

using texts = std::vector<std::string>;

struct volley_fixture : actor_fixture {
  explicit volley_fixture(fault_hook faults = {}, std::size_t tasks = 3) {
    begin();
    volley_setup setup;
    setup.limits.workers = 2;
    setup.limits.retries = {2, 10s, 10s};
    setup.tasks.resize(tasks, {.model = "m"});
    setup.port = port;
    setup.faults = std::move(faults);
    volley = spawn_volley_scheduler(*system, std::move(setup));
    caf::anon_send(volley, begin_volley{});
    settle();
  }
  ~volley_fixture() { caf::anon_send_exit(volley, caf::exit_reason::kill); }
  void end(std::size_t task, core::task_end how) {
    caf::anon_send(volley, task_ended{task, how});
    settle();
  }
  std::shared_ptr<recording_port> port = std::make_shared<recording_port>();
  volley_scheduler_actor volley;
};

}  // namespace

TEST_CASE("a volley's scheduler starts, waits and tells the end") {
  volley_fixture x;
  CHECK(x.port->take() == texts{"start 0.1", "start 1.1"});
  x.end(0, {.retryable = true});
  CHECK(x.port->take() == texts{"start 2.1"});
  x.end(1, {.completed = true});
  x.end(2, {.completed = true});
  CHECK(x.port->take() == texts{"over 1", "over 2"});
  x.advance(4s);
  x.settle();
  CHECK(x.port->take().empty());
  x.advance(20s);
  x.settle();
  CHECK(x.port->take() == texts{"start 0.2"});
  x.end(0, {.retryable = true});
  CHECK(x.port->take() == texts{"over 0", "all over"});
}

TEST_CASE("a cancelled volley says why to the runs that it ends") {
  volley_fixture x;
  x.port->take();
  caf::anon_send(x.volley, cancel_volley{"by me"});
  x.settle();
  CHECK(x.port->take() ==
        texts{"cancel 0 by me", "cancel 1 by me", "not run 2"});
  x.end(0, {});
  x.end(1, {});
  CHECK(x.port->take() == texts{"over 0", "over 1", "all over"});
}

TEST_CASE("a volley follows what its model's limiter reports, down and up") {
  volley_fixture x{{}, 6};
  const auto reports = [&x](const std::string& model, std::uint32_t most) {
    caf::anon_send(x.volley, capacity_known{model, most});
    x.settle();
  };
  CHECK(x.port->take() == texts{"start 0.1", "start 1.1"});
  reports("m", 1);
  x.end(0, {.completed = true});
  CHECK(x.port->take() == texts{"over 0"});  // one runs, and no more may
  x.end(1, {.completed = true});
  CHECK(x.port->take() == texts{"over 1", "start 2.1"});
  reports("another", 9);
  CHECK(x.port->take().empty());
  reports("m", 2);
  CHECK(x.port->take() == texts{"start 3.1"});
  reports("another", 1);
  x.end(2, {.completed = true});
  CHECK(x.port->take() == texts{"over 2", "start 4.1"});
}

TEST_CASE("who waits for a volley is told when its scheduler fails") {
  for (const std::string handler :
       {"volley_scheduler.begin", "volley_scheduler.ended",
        "volley_scheduler.cancel", "volley_scheduler.capacity",
        "volley_scheduler.pause_over"}) {
    volley_fixture x{[handler](const std::string& at) {
      if (at == handler) throw std::runtime_error{"a fault"};
    }};
    x.end(0, {.retryable = true});
    x.advance(20s);
    x.settle();
    caf::anon_send(x.volley, capacity_known{"m", 1});
    x.settle();
    caf::anon_send(x.volley, cancel_volley{"end"});
    x.settle();
    CAPTURE(handler);
    REQUIRE_FALSE(x.port->said.empty());
    CHECK(x.port->said.back() == "all over: a fault");
  }
}
