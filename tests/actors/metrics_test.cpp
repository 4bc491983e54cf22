// SPDX-License-Identifier: MIT
// What is measured of runs, in simulated time, under the names of the table.
#include "runtime/base/metrics.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "tests/actors/approval_scene.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using events::proposal_outcome;

namespace {

/// Keeps what is measured while it lives: "NAME LABEL…" -> values.
class meter {
 public:
  meter() { read_metrics(kept_); }
  ~meter() { read_metrics(nullptr); }
  meter(const meter&) = delete;
  meter& operator=(const meter&) = delete;

  [[nodiscard]] std::vector<double> of(const std::string& line) const {
    const auto at = kept_->all.find(line);
    return at == kept_->all.end() ? std::vector<double>{} : at->second;
  }

  /// Those whose line begins so, without what follows.
  [[nodiscard]] std::vector<std::string> all(const std::string& begin) const {
    std::vector<std::string> out;
    for (const auto& [line, x] : kept_->all)
      if (line.starts_with(begin)) out.push_back(line.substr(begin.size()));
    return out;
  }

 private:
  struct reader final : metric_reader {
    void on(const metric_about& what, double value,
            std::initializer_list<metric_label> labels) noexcept override {
      std::string line{what.name};
      for (const auto& x : labels)
        if (!x.value.empty()) line.append(" ").append(x.value);
      all[line].push_back(value);
    }
    std::map<std::string, std::vector<double>> all;
  };
  std::shared_ptr<reader> kept_ = std::make_shared<reader>();
};

using values = std::vector<double>;

/// A provider whose answer comes when the test says so.
class late_model final : public model::transport {
 public:
  model::transfer_id open(
      model::transport_request,
      std::shared_ptr<model::transfer_listener> listener) override {
    to_ = std::move(listener);
    return 1;
  }
  void grant(model::transfer_id, std::size_t) override {}
  void cancel(model::transfer_id) override {
    if (const auto to = std::exchange(to_, nullptr))
      to->on_end({0, error{errc::cancelled, "transport", "cancelled"}});
  }
  void bring(const std::string& bytes) const { to_->on_bytes(bytes); }

 private:
  std::shared_ptr<model::transfer_listener> to_;
};

}  // namespace

TEST_CASE("a question's wait is measured, and not as a wait of its call") {
  const meter m;
  approval_scene x;
  x.play({model_calls(0, "look") + model_calls(1, "act") +
          model_stops("tool_calls")});
  x.pass(1h);
  x.decide(x.undecided().at(0).what.id, proposal_outcome::approved, {},
           always_scope::none, true);
  x.run_out();
  const auto waits = m.of("riffle.approval.wait approved");
  REQUIRE(waits.size() == 1);
  CHECK(waits[0] >= 3600);
  const auto act = m.of("riffle.call.queue_wait act");
  REQUIRE(act.size() == 1);
  CHECK(act[0] < 1);
  CHECK(m.of("riffle.call.queue_wait look").size() == 1);
}

TEST_CASE("a call that begins while its turn streams has a head start") {
  const meter m;
  actor_fixture x;
  x.begin();
  x.provider->answers = {
      model_calls(0, "look") + model_calls(1, "look") + scripted_model::hold,
      model_says("The end.") + model_stops("stop")};
  x.settings.defaults.timeout = 1h;
  auto spec = x.make_spec();
  spec->model.timeouts.idle = spec->model.timeouts.total = 1h;
  x.start(spec);
  x.settle();
  CHECK(x.look->acted.size() >= 1);
  CHECK(m.of("riffle.call.head_start").empty());
  x.advance(90s);
  x.cancel();
  x.run_out();
  const auto early = m.of("riffle.call.head_start");
  REQUIRE_FALSE(early.empty());
  CHECK(early[0] == Approx(90).margin(5));
}

TEST_CASE("requests to a model are measured by provider and model") {
  const meter m;
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_says("The end.") + model_stops("stop")};
  auto spec = x.make_spec();
  spec->model.provider = "acme";
  spec->model.model = "m-1";
  spec->agent_name = "writer";
  spec->url = "https://user:secret@acme.example/v1/chat";
  x.start(spec);
  x.run_out();
  const std::string asked = " chat acme m-1 acme.example 443";
  CHECK(m.of("gen_ai.client.operation.duration" + asked).size() == 1);
  CHECK(m.of("gen_ai.client.operation.time_to_first_chunk" + asked).size() ==
        1);
  CHECK(m.of("gen_ai.client.token.usage" + asked + " input").size() == 1);
  CHECK(m.of("gen_ai.client.token.usage" + asked + " output").size() == 1);
  CHECK(m.of("gen_ai.invoke_agent.duration writer").size() == 1);
}

TEST_CASE("a call is measured by its tool and the agent that asked for it") {
  const meter m;
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_calls(0, "look") + model_stops("tool_calls"),
                         model_says("The end.") + model_stops("stop")};
  auto spec = x.make_spec();
  spec->agent_name = "writer";
  x.start(spec);
  x.run_out();
  CHECK(m.of("gen_ai.execute_tool.duration look writer").size() == 1);
}

TEST_CASE("the time between two parts of an answer is measured") {
  const meter m;
  actor_fixture x;
  x.begin();
  const auto provider = std::make_shared<late_model>();
  auto spec = x.make_spec();
  spec->transport = provider;
  spec->model.provider = "acme";
  spec->model.model = "m";
  x.start(spec);
  x.settle();
  const std::string name = "gen_ai.client.operation.";
  const auto first = name + "time_to_first_chunk chat acme m";
  const auto next = name + "time_per_output_chunk chat acme m";
  x.advance(3s);
  CHECK(m.of(first).empty());
  provider->bring(model_says("One. ") + model_says("And more. "));
  x.settle();
  REQUIRE(m.of(first).size() == 1);
  CHECK(m.of(first)[0] == Approx(3).margin(0.5));
  CHECK(m.of(next).empty());
  x.advance(7s);
  provider->bring(model_says("Two. "));
  x.settle();
  x.advance(2s);
  provider->bring(model_says("Three.") + model_stops("stop"));
  x.run_out();
  const auto waits = m.of(next);
  REQUIRE(waits.size() == 2);
  CHECK(waits[0] == Approx(7).margin(0.5));
  CHECK(waits[1] == Approx(2).margin(0.5));
  CHECK(m.of(first).size() == 1);
}

TEST_CASE("a provider without a name is called by what it speaks") {
  const meter m;
  actor_fixture x;
  x.begin();
  x.provider->answers = {scripted_model::cut};
  auto spec = x.make_spec();
  spec->model.provider = "";
  spec->model.dialect = "openai";
  spec->model.model = "m";
  spec->model.retry.max_attempts = 1;
  x.start(spec);
  x.run_out();
  CHECK(m.all("gen_ai.client.operation.duration chat openai m ").size() == 1);
}

TEST_CASE("workers that die, reports that merge, and commits are counted") {
  const meter m;
  actor_fixture x{std::make_shared<test_journal>()};
  x.begin();
  x.look->throw_times = 1;
  x.look->reports = 10'000;
  x.provider->answers = {model_calls(0, "look") + model_stops("tool_calls"),
                         model_says("The end.") + model_stops("stop")};
  x.start(x.make_spec());
  x.run_out();
  CHECK(m.of("riffle.worker.restarts look") == values{1});
  double merged = 0;
  for (const auto n : m.of("riffle.progress.coalesced look")) merged += n;
  CHECK(merged > 9'000);
  CHECK(m.of("riffle.commit.duration").size() > 3);
  const auto readers = m.of("riffle.subscribers");
  REQUIRE_FALSE(readers.empty());
  double now = 0;
  for (const auto n : readers) now += n;
  CHECK(now == 0);
}

TEST_CASE("a tool that is out of service is counted until it is back") {
  const meter m;
  actor_fixture x;
  x.settings.defaults.attempts = 1;
  x.supervision.intensity = 2;
  x.supervision.cool_down = 30s;
  x.begin();
  x.look->throw_times = 3;
  const auto play = [&](const std::string& run) {
    x.provider->answers.assign(
        4, model_calls(0, "look") + model_stops("tool_calls"));
    x.provider->answers.push_back(model_says("The end.") + model_stops("stop"));
    x.provider->requests.clear();
    auto spec = x.make_spec(run);
    spec->session = session_id{"of " + run};
    x.start(spec);
    x.run_out();
  };
  play("run_1");
  CHECK(m.of("riffle.breaker.open look") == values{1});
  SECTION("its pool dies") {
    caf::anon_send_exit(x.pools.at("look"), caf::exit_reason::kill);
    x.settle();
    CHECK(m.of("riffle.breaker.open look") == values{1, -1});
    return;
  }
  x.advance(31s);
  play("run_2");
  CHECK(m.of("riffle.breaker.open look") == values{1, -1});
}
