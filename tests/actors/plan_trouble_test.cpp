// SPDX-License-Identifier: MIT
// Plans that cannot have the run of their step: what is tried again and how
// often, what ends the step, and that a plan can be ended all the same.
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/actors/plan_scene.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/log_lines.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

/// Looks at the runs of steps that have begun.
class watched_journal final : public test_journal {
 public:
  expected<storage::run_snapshot> adopt_run(const run_id& id) override {
    if (refuses && id != run_id{"plan_1"})
      return unexpected{error{*refuses, "adopt_run", "it is not to be had"}};
    return test_journal::adopt_run(id);
  }
  expected<storage::event_page> read_events(const run_id& run,
                                            std::uint64_t after_seq,
                                            std::size_t max_bytes) override {
    if (run != run_id{"plan_1"}) read_after.push_back(after_seq);
    return test_journal::read_events(run, after_seq, max_bytes);
  }

  std::optional<errc> refuses;  ///< to adopt a run of a step
  std::vector<std::uint64_t> read_after;
};

/// A plan whose first step's run is made once; then not, if there is a reason.
struct scene {
  std::shared_ptr<run_spec> plan(const json& steps, duration limit = {}) {
    auto spec = plan_spec(x, steps, limit);
    auto work = std::make_shared<plan_work>(*spec->plan);
    work->make_step = [this, make = work->make_step](
                          const run_id& id,
                          const std::string& task) -> expected<run_spec_ptr> {
      if (++made > 1 && why) return unexpected{*why};
      return make(id, task);
    };
    spec->plan = std::move(work);
    return spec;
  }
  [[nodiscard]] run_id run_of_step() const {
    const auto begun =
        last_data(stored_log(*journal, run_id{"plan_1"}), "plan_step_started");
    return run_id{begun.at("run_id").get<std::string>()};
  }
  /// Its actors end. `storage_unavailable`: it is kept until the journal takes
  /// it again; `internal`: it is nobody's.
  void break_run(errc code) {
    caf::anon_send(x.registry,
                   run_broken{run_of_step(), error{code, "test", "it broke"}});
    x.settle();
  }
  void pass(duration time) {
    constexpr auto step = 50ms;
    for (duration passed{}; passed < time; passed += step) {
      x.advance(step);
      x.settle();
    }
  }

  std::shared_ptr<watched_journal> journal =
      std::make_shared<watched_journal>();
  actor_fixture x{journal};
  int made = 0;
  std::optional<error> why;
};

/// The run of its step was suspended, and its tool still acts.
struct stuck_scene : scene {
  stuck_scene() {
    x.run_blocking = false;
    x.begin();
    x.provider->answers = {model_calls(0, "act") + model_stops("tool_calls"),
                           model_ends};
    auto spec = plan(say());
    spec->looks = x.looks;
    x.start(spec);
    x.settle();
    REQUIRE(x.blocking->jobs.size() == 1);
    x.run_looks = false;
    x.first_looks = 50;  // else it might never settle
    break_run(errc::storage_unavailable);
  }
};

const auto hold = model_says("So ") + scripted_model::hold;

}  // namespace

TEST_CASE("a run whose tool does not end is looked at twice a second") {
  stuck_scene s;
  auto& x = s.x;
  REQUIRE(s.made <= 3);
  s.made = 0;
  x.first_looks = 50;
  s.pass(10s);
  CHECK(s.made >= 15);
  CHECK(s.made <= 21);
  x.run_looks = x.run_blocking = true;
  x.run_out();
  check_log(x.reader->lines);
  CHECK(last_data(x.reader->lines, "plan_finished").at("status") ==
        "completed");
  CHECK(x.provider->requests.size() == 2);
}

TEST_CASE("the end of a run is not searched where it was read already") {
  stuck_scene s;
  auto& x = s.x;
  x.first_looks = 0;  // the registry has it go on, and it ends
  x.run_blocking = true;
  s.pass(5s);
  REQUIRE(x.provider->requests.size() == 2);
  REQUIRE(s.journal->read_after.empty());
  x.run_looks = true;
  x.run_out();
  check_log(x.reader->lines);
  REQUIRE_FALSE(s.journal->read_after.empty());
  CHECK(s.journal->read_after.front() > 0);
}

TEST_CASE("a plan that cannot look at its step is ended all the same") {
  const std::string how = GENERATE("cancel", "step", "plan");
  CAPTURE(how);
  const bool at_open = GENERATE(false, true);
  CAPTURE(at_open);
  scene s;
  auto& x = s.x;
  x.begin();
  x.provider->answers = {hold};
  auto step = say();
  if (how == "step") step["timeout"] = "5s";
  const log_lines log{"warn"};
  x.start(s.plan(step, how == "plan" ? 5s : duration{}));
  x.settle();
  if (at_open)
    s.journal->refuses = errc::storage_unavailable;
  else
    s.why = error{errc::storage_unavailable, "test", "it is not to be had"};
  s.break_run(errc::internal);
  s.pass(3s);
  CHECK(s.made > 3);
  CHECK(log.with("not to be had").size() == 1);
  CHECK(log.with(s.run_of_step().value + " of plan plan_1").size() == 1);
  REQUIRE_FALSE(x.reader->is_closed);
  if (how == "cancel") x.cancel("enough");
  x.run_out(30s);
  REQUIRE(x.reader->is_closed);
  check_log(x.reader->lines);
  const auto status = how == "cancel" ? "cancelled" : "failed";
  CHECK(last_data(x.reader->lines, "plan_step_finished").at("status") ==
        status);
  const auto end = last_data(x.reader->lines, "plan_finished");
  CHECK(end.at("status") == status);
  CHECK(end.at("error").at("code") ==
        (how == "cancel" ? "stream_interrupted" : "timeout"));
}

TEST_CASE("a step whose run cannot be made again, or read, has failed") {
  const std::string policy = GENERATE("stop", "continue");
  CAPTURE(policy);
  const bool at_open = GENERATE(false, true);
  CAPTURE(at_open);
  scene s;
  auto& x = s.x;
  x.begin();
  x.provider->answers = {hold};
  auto step = say();
  step["on_error"] = policy;
  x.start(s.plan({step, tool("look")}));
  x.settle();
  if (at_open)
    s.journal->refuses = errc::storage_corrupt;
  else
    s.why = error{errc::invalid_config, "test", "it is not to be had"};
  s.break_run(errc::internal);
  x.run_out(10s);
  REQUIRE(x.reader->is_closed);
  check_log(x.reader->lines);
  CHECK(s.made == 2);
  const auto first =
      events_of(x.reader->lines, "plan_step_finished").at(0).at("data");
  CHECK(first.at("status") == "failed");
  CHECK(first.at("error").at("code") == "step_execution_error");
  CHECK_THAT(first.at("error").at("message").get<std::string>(),
             Contains("it is not to be had"));
  CHECK(x.look->acted.size() == (policy == "continue" ? 1u : 0u));
  CHECK(last_data(x.reader->lines, "plan_finished").at("status") ==
        (policy == "continue" ? "completed" : "failed"));
}

TEST_CASE("a plan goes on when it can look at its step again") {
  scene s;
  auto& x = s.x;
  x.begin();
  x.provider->answers = {hold, model_ends};
  x.start(s.plan(say()));
  x.settle();
  // As it is told where a process ends that others go on for, too.
  const auto code = GENERATE(errc::storage_unavailable, errc::cancelled);
  s.why = error{code, "test", "not now"};
  s.break_run(errc::internal);
  s.pass(3s);
  REQUIRE_FALSE(x.reader->is_closed);
  s.why.reset();
  x.run_out(10s);
  REQUIRE(x.reader->is_closed);
  check_log(x.reader->lines);
  CHECK(last_data(x.reader->lines, "plan_finished").at("status") ==
        "completed");
}

TEST_CASE("a run that its plan has given up does not go on") {
  scene s;
  auto& x = s.x;
  x.begin();
  x.provider->answers = {hold};
  auto step = say();
  step["timeout"] = "1s";
  s.why = error{errc::invalid_config, "test", "no key"};
  auto spec = s.plan(step);
  bool thrown = false;
  spec->faults = [&](const std::string& where) {
    if (where != "plan_executor.step_due" || std::exchange(thrown, true))
      return;
    throw std::runtime_error{"it broke"};
  };
  x.start(spec);
  x.settle();
  const auto run = s.run_of_step();
  x.run_out(10s);
  REQUIRE(thrown);
  REQUIRE(x.reader->is_closed);
  check_log(x.reader->lines);
  CHECK(
      last_data(x.reader->lines, "plan_step_finished").at("error").at("code") ==
      "step_execution_error");
  s.pass(1s);
  const auto record = s.journal->load_run(run);
  REQUIRE(record);
  CHECK(record->state == storage::run_state::cancelled);
}
