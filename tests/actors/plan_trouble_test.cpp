// SPDX-License-Identifier: MIT
// Plans that cannot have the run of their step: what is tried again, and how
// often.
#include <optional>
#include <utility>
#include <vector>

#include "tests/actors/plan_scene.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
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
