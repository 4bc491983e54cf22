// SPDX-License-Identifier: MIT
// The journal refuses writes for a while: runs are suspended, then go on.
#include <algorithm>

#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

struct scene {
  std::shared_ptr<test_journal> journal = std::make_shared<test_journal>();
  actor_fixture x{journal};

  scene() {
    x.begin();
    x.provider->answers = {
        model_says("Hm. ") + model_calls(0, "look") + model_calls(1, "act") +
            model_calls(2, "act", {{"n", 2}}) + model_stops("tool_calls"),
        model_ends};
  }

  std::string stored() {
    const auto page = journal->read_events(x.run, 0, 1u << 20);
    REQUIRE(page);
    std::string lines;
    for (const auto& block : page->blocks) lines += *block.lines;
    return lines;
  }
  storage::run_state state() { return journal->load_run(x.run)->state; }

  /// A new reader for what follows.
  void look_again() {
    x.reader = std::make_shared<recording_subscriber>();
    caf::anon_send(x.registry, attach_subscriber{x.run, x.reader});
    x.settle();
  }

  /// Until the journal refuses.
  void stand_still() {
    x.start(x.make_spec());
    x.run_out(10s);
    REQUIRE(x.reader->is_closed);
    REQUIRE(x.reader->failure);
    CHECK(x.reader->failure->code == errc::storage_unavailable);
  }
  void let_pass(duration time) {
    for (duration passed{}; passed < time; passed += 100ms) {
      x.settle();
      x.advance(100ms);
    }
    x.settle();
  }
};

std::size_t most_times(const recording_tool& tool) {
  std::map<call_id, std::size_t> each;
  std::size_t most = 0;
  for (const auto& id : tool.acted) most = std::max(most, ++each[id]);
  return most;
}

/// What acted is told as it ended, what did not as nothing that did.
void check_outcomes(const std::string& log, const recording_tool& tool) {
  for (const auto& x : events_of(log, "tool_result")) {
    const auto& result = x.at("data");
    if (result.at("tool") != tool.spec().name) continue;
    const bool acted =
        std::ranges::count(tool.acted, call_id{result.at("id")}) > 0;
    CHECK(result.at("outcome") == (acted ? "ok" : "interrupted"));
  }
}

}  // namespace

TEST_CASE("a run whose write failed goes on when there is room again") {
  for (std::size_t k = 1;; ++k) {
    CAPTURE(k);
    scene s;
    s.journal->fail_at(k);
    s.x.start(s.x.make_spec());
    s.x.run_out(10s);
    REQUIRE(s.x.reader->is_closed);
    if (!s.x.reader->failure) {
      CHECK(k > 5);
      return;
    }
    const auto told = s.x.reader->lines;
    check_log(told, true);
    CHECK(s.stored() == told);
    CHECK(s.state() == storage::run_state::active);
    s.let_pass(60s);  // probes change nothing
    CHECK(s.stored() == told);
    s.journal->fail_writes(false);
    s.let_pass(30s);
    CHECK(s.state() == storage::run_state::completed);
    const auto whole = s.stored();
    CHECK(whole.starts_with(told));
    check_log(whole);
    CHECK(most_times(*s.x.act) <= 1);
    check_outcomes(whole, *s.x.act);
    check_requests(s.x.provider->requests);
  }
}

TEST_CASE("while writes fail a new run is refused, and later one is not") {
  scene s;
  s.journal->fail_at(3);
  s.stand_still();
  const auto first = s.x.run;
  s.x.session = {"ses_2"};
  s.x.start(s.x.make_spec("run_2"));
  s.x.settle();
  REQUIRE(s.x.opened);
  REQUIRE(s.x.opened->failure);
  CHECK(s.x.opened->failure->code == errc::storage_unavailable);
  s.journal->fail_writes(false);
  s.x.provider->answers = {model_ends};
  s.x.reader = std::make_shared<recording_subscriber>();
  s.x.start(s.x.make_spec("run_2"));
  s.let_pass(20s);
  CHECK(s.state() == storage::run_state::completed);
  s.x.run = first;
  CHECK(s.state() == storage::run_state::completed);
}

TEST_CASE(
    "a reader that comes to a suspended run is told why it is suspended") {
  scene s;
  s.journal->fail_at(3);
  s.stand_still();
  s.look_again();
  CHECK(s.x.reader->is_closed);
  REQUIRE(s.x.reader->failure);
  CHECK(s.x.reader->failure->code == errc::storage_unavailable);
}

TEST_CASE("a suspended run that is cancelled ends so when there is room") {
  scene s;
  s.journal->fail_at(3);
  s.stand_still();
  s.x.cancel("enough");
  s.let_pass(5s);
  s.journal->fail_writes(false);
  s.let_pass(20s);
  CHECK(s.state() == storage::run_state::cancelled);
  check_log(s.stored());
  CHECK(s.stored().find("enough") != std::string::npos);
}

TEST_CASE("a suspended run can be resumed before it is probed, once") {
  scene s;
  s.journal->fail_at(3);
  s.stand_still();
  s.let_pass(100s);  // probes are rare by now
  s.x.reader = std::make_shared<recording_subscriber>();
  s.x.resume(s.x.make_spec());
  s.x.settle();
  REQUIRE(s.x.opened->failure);
  CHECK(s.x.opened->failure->code == errc::storage_unavailable);
  s.journal->fail_writes(false);
  s.x.resume(s.x.make_spec());
  s.x.settle();
  CHECK_FALSE(s.x.opened->failure);
  s.let_pass(40s);
  CHECK(s.x.reader->is_closed);
  CHECK_FALSE(s.x.reader->failure);
  CHECK(s.x.reader->lines == s.stored());
  check_log(s.stored());
}

TEST_CASE("a registry with suspended runs closes at once") {
  scene s;
  s.journal->fail_at(3);
  s.stand_still();
  bool ended = false;
  auto asker = s.x.system->spawn([&](caf::event_based_actor* self) {
    self->request(s.x.registry, 10s, shut_down{}).then([&](all_ended&) {
      ended = true;
    });
  });
  s.x.settle();
  CHECK(ended);
  s.journal->fail_writes(false);
  s.let_pass(20s);
  CHECK(s.state() == storage::run_state::active);  // for the next process
}

TEST_CASE("what is broken for good does not come back") {
  scene s;
  s.x.start(s.x.make_spec());
  const auto line = std::make_shared<const std::string>("{}\n");
  s.journal->append({s.x.run, storage::event_block{99, 99, line}, {}},
                    [](auto) {});  // contradicts what is stored
  s.x.run_out(10s);
  REQUIRE(s.x.reader->failure);
  CHECK(s.x.reader->failure->code == errc::storage_corrupt);
  s.let_pass(20s);
  s.look_again();
  CHECK_FALSE(s.x.reader->failure);  // nobody knows it any more
}

TEST_CASE("an expiry that cannot be stored is stored later") {
  scene s;
  s.x.settings.defaults.approval = "ask";
  s.x.approval = approve::ask;
  s.x.expire_after = 5s;
  s.x.start(s.x.make_spec());
  s.let_pass(2s);
  REQUIRE(s.x.undecided().size() == 1);
  s.journal->fail_writes(true);
  s.let_pass(10s);
  CHECK(s.x.undecided().size() == 1);
  s.journal->fail_writes(false);
  s.let_pass(20s);  // the next call is asked about then
  CHECK(s.x.undecided().empty());
  CHECK(s.state() == storage::run_state::completed);
  check_log(s.stored());
}

TEST_CASE("a time limit does not outlive the run that was given another one") {
  scene s;
  const auto held = model_says("Hm. ") + scripted_model::hold;
  s.x.provider->answers.insert(s.x.provider->answers.begin() + 1, 6, held);
  auto spec = s.x.make_spec();
  spec->time_limit = 60s;
  s.journal->fail_at(3);
  s.x.start(spec);
  s.x.run_out(5s);
  REQUIRE(s.x.reader->failure);
  // It goes on, with its deadline, and soon stands still again.
  s.journal->fail_at(s.journal->appended() + 2);
  s.let_pass(20s);
  CHECK(s.state() == storage::run_state::active);
  auto longer = s.x.make_spec();
  longer->time_limit = 1h;
  s.journal->fail_writes(false);
  s.x.reader = std::make_shared<recording_subscriber>();
  s.x.resume(longer);
  s.x.settle();
  REQUIRE(s.x.opened);
  REQUIRE_FALSE(s.x.opened->failure);
  s.let_pass(90s);
  CHECK(s.state() == storage::run_state::active);
  CHECK(s.stored().find("time limit") == std::string::npos);
  s.x.cancel("enough");
  s.let_pass(10s);
  CHECK(s.state() == storage::run_state::cancelled);
  check_log(s.stored());
}
