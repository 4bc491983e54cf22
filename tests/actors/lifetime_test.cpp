// SPDX-License-Identifier: MIT
// The lifetime of runs: opened once, ended by whoever asks, nobody's once
// nobody works on them.
#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/log_lines.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

/// Asks the registry; the answer is kept.
struct asker {
  template <class Message>
  asker(actor_fixture& x, Message what) {
    x.system->spawn([this, &x, what](caf::event_based_actor* self) {
      self->request(x.registry, 10min, what).then([this](run_opened& answer) {
        opened = std::move(answer);
      });
    });
  }
  asker(const asker&) = delete;
  asker& operator=(const asker&) = delete;
  [[nodiscard]] std::optional<errc> code() const {
    if (!opened || !opened->failure) return {};
    return opened->failure->code;
  }
  std::optional<run_opened> opened;
};

/// A store that answers when the test says so.
struct slow_store {
  struct state {
    std::deque<std::function<void()>> answers;
  };
  std::shared_ptr<state> held = std::make_shared<state>();
  session_store_actor actor;

  void put_before(actor_fixture& x) {
    x.change_front = [this, &x](registry_setup& front) {
      actor = x.system->spawn(behave, held, x.journal);
      front.store = actor;
      front.store_deadline = 60s;
    };
  }
  /// The message is one of the store's own; here it is the test's.
  void answer_all() const { caf::anon_send(actor, adoption_done{}); }
  ~slow_store() {
    held->answers.clear();
    caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  }

 private:
  static opened_run to_answer(expected<storage::run_snapshot> x) {
    if (!x) return {nullptr, x.error()};
    return {std::make_shared<storage::run_snapshot>(std::move(*x)), {}};
  }
  static session_store_actor::behavior_type behave(
      session_store_actor::pointer self, std::shared_ptr<state> held,
      std::shared_ptr<storage::journal> journal) {
    const auto later = [self, held](auto work) -> caf::result<opened_run> {
      auto promise = self->make_response_promise<opened_run>();
      held->answers.push_back(
          [promise, work]() mutable { promise.deliver(work()); });
      return promise;
    };
    return {
        [=](open_run_request& x) {
          return later([=] { return to_answer(journal->open_run(x.run)); });
        },
        [=](adopt_run_request& x) {
          return later([=] { return to_answer(journal->adopt_run(x.run)); });
        },
        [held](adoption_done&) {
          for (auto& f : std::exchange(held->answers, {})) f();
        },
        [=](const disown_request& x) { CHECK(journal->disown_run(x.run)); },
    };
  }
};

/// A run that a dead process left behind: one line is in its log.
void leave_behind(actor_fixture& x) {
  x.provider->answers = {scripted_model::hold};
  auto spec = x.make_spec();
  x.start(spec);
  x.settle();
  caf::anon_send_exit(x.registry, caf::exit_reason::user_shutdown);
  x.settle();
  x.reader = std::make_shared<recording_subscriber>();
}

storage::run_state state_of(actor_fixture& x) {
  return x.journal->load_run(x.run)->state;
}

}  // namespace

TEST_CASE("of two who resume a run at once the second is told it is busy") {
  auto journal = std::make_shared<test_journal>();
  {
    actor_fixture before{journal};
    before.begin();
    leave_behind(before);
  }
  actor_fixture x{journal};
  x.begin();
  x.provider->answers = {model_ends};
  const auto spec = x.make_spec();
  const asker first{x, resume_run{spec, x.reader, {}}};
  const asker second{x, resume_run{spec, {}, {}}};
  x.run_out(10s);
  REQUIRE(first.opened);
  CHECK_FALSE(first.opened->failure);
  CHECK(second.code() == errc::session_busy);
  CHECK(state_of(x) == storage::run_state::completed);
  CHECK_FALSE(x.reader->failure);
  check_log(x.reader->lines);
}

TEST_CASE("a cancel that comes before the run has begun is kept") {
  actor_fixture x;
  slow_store store;
  store.put_before(x);
  x.begin();
  x.provider->answers = {model_ends};
  x.start(x.make_spec());
  x.settle();
  x.cancel("enough");
  x.settle();
  store.answer_all();
  x.run_out(10s);
  CHECK(state_of(x) == storage::run_state::cancelled);
  check_log(x.reader->lines);
}

TEST_CASE(
    "a run whose adoption came too late is nobody's, and can be resumed") {
  auto journal = std::make_shared<test_journal>();
  {
    actor_fixture before{journal};
    before.begin();
    leave_behind(before);
  }
  actor_fixture x{journal};
  slow_store store;
  store.put_before(x);
  x.begin();
  x.provider->answers = {model_ends};
  const log_lines log{"info"};
  const auto spec = x.make_spec();
  const asker first{x, resume_run{spec, x.reader, {}}};
  x.settle();
  x.advance(61s);
  x.settle();
  CHECK(first.code() == errc::storage_unavailable);
  const asker second{x, resume_run{spec, x.reader, {}}};
  x.settle();
  CHECK(second.code() == errc::session_busy);  // the store may still adopt it
  store.answer_all();
  x.settle();
  CHECK(journal->owner_of_run(x.run).value() == storage::run_owner::gone);
  CHECK(log.with("too late").size() == 1);
  const asker third{x, resume_run{spec, x.reader, {}}};
  x.settle();
  store.answer_all();
  x.run_out(10s);
  REQUIRE(third.opened);
  CHECK_FALSE(third.opened->failure);
  CHECK(state_of(x) == storage::run_state::completed);
  check_log(x.reader->lines);
}

TEST_CASE("a start that failed leaves no run that is under way") {
  actor_fixture x;
  slow_store store;
  store.put_before(x);
  x.begin();
  x.provider->answers = {model_ends};
  const asker first{x, start_run{x.make_spec(), x.reader}};
  x.settle();
  x.advance(61s);
  x.settle();
  CHECK(first.code() == errc::storage_unavailable);
  store.answer_all();
  x.run_out(10s);
  CHECK(state_of(x) == storage::run_state::cancelled);
  CHECK(x.reader->lines.empty());  // who was refused hears nothing
}

TEST_CASE("who resumes a run is refused like who starts one") {
  auto journal = std::make_shared<test_journal>();
  {
    actor_fixture before{journal};
    before.begin();
    leave_behind(before);
  }
  actor_fixture x{journal};
  x.change_front = [](registry_setup& front) { front.max_runs = 1; };
  x.begin();
  const auto old = x.make_spec();
  x.session = {"ses_2"};
  x.provider->answers = {scripted_model::hold};
  const asker other{x, start_run{x.make_spec("run_2"), {}}};
  x.settle();
  const asker full{x, resume_run{old, {}, {}}};
  x.settle();
  CHECK(full.code() == errc::budget_exceeded);
  // To end a run is no work that there could be too much of.
  const asker end{
      x, resume_run{old, x.reader,
                    core::end_request{{errc::cancelled, "run", "x"}, true}}};
  x.run = old->run;
  x.run_out(10s);
  CHECK(state_of(x) == storage::run_state::cancelled);
  x.run = {"run_2"};
  caf::anon_send(x.registry, shut_down{});
  const asker closing{x, resume_run{old, {}, {}}};
  x.settle();
  CHECK(closing.code() == errc::cancelled);
}

TEST_CASE("a unit out of order ends its run, and no other") {
  auto journal = std::make_shared<test_journal>();
  actor_fixture x{journal};
  x.begin();
  x.provider->answers = {model_calls(0, "look") + model_stops("tool_calls"),
                         model_ends};
  const asker first{x, start_run{x.make_spec(), x.reader}};
  x.settle();
  const auto other = std::make_shared<recording_subscriber>();
  x.session = {"ses_2"};
  x.provider->answers = {scripted_model::hold};
  const asker second{x, start_run{x.make_spec("run_2"), other}};
  x.settle();
  journal->append(
      {{"run_2"},
       storage::event_block{99, 99, std::make_shared<std::string>("{}\n")},
       {}},
      [](auto) {});
  x.settle();
  x.cancel("now it writes");
  for (int i = 0; i < 100; ++i) {
    x.settle();
    x.advance(100ms);
  }
  REQUIRE(other->is_closed);
  REQUIRE(other->failure);
  CHECK(other->failure->code == errc::storage_corrupt);
  CHECK(journal->owner_of_run({"run_2"}).value() == storage::run_owner::gone);
  CHECK(journal->load_run({"run_1"})->state == storage::run_state::completed);
}

TEST_CASE("a run is not owned while a dead runtime's call still acts") {
  auto journal = std::make_shared<test_journal>();
  {
    actor_fixture before{journal};
    before.begin();
    before.run_blocking = false;
    before.provider->answers = {model_calls(0, "look") +
                                model_stops("tool_calls")};
    before.start(before.make_spec());
    before.settle();
  }
  REQUIRE(journal->disown_run({"run_1"}));  // as if its process were gone
  actor_fixture x{journal};
  bool acts = true;
  std::vector<storage::run_owner> owners;
  x.wait_for_guard = [&](const storage::call_record&) -> std::optional<error> {
    owners.push_back(journal->owner_of_run({"run_1"}).value());
    if (acts) return error{errc::timeout, "guard", "it still acts"};
    return {};
  };
  x.waiting_executor = std::make_shared<manual_executor>();
  x.begin();
  const auto spec = x.make_spec();
  const asker first{x, resume_run{spec, {}, {}}};
  x.settle();
  // It waits elsewhere: another run is opened meanwhile.
  x.session = {"ses_2"};
  x.provider->answers = {model_ends};
  const asker other{x, start_run{x.make_spec("run_2"), {}}};
  x.settle();
  REQUIRE(other.opened);
  CHECK_FALSE(other.opened->failure);
  CHECK_FALSE(first.opened);
  const log_lines log{"warn"};
  REQUIRE(x.waiting_executor->run_one());
  x.settle();
  CHECK(first.code() == errc::timeout);
  CHECK(log.with("is not adopted").size() == 1);
  CHECK(journal->owner_of_run({"run_1"}).value() == storage::run_owner::gone);
  acts = false;
  const asker second{x, resume_run{spec, x.reader, {}}};
  x.settle();
  REQUIRE(x.waiting_executor->run_one());
  x.run = spec->run;
  x.run_out(10s);
  REQUIRE(second.opened);
  CHECK_FALSE(second.opened->failure);
  CHECK(owners == std::vector(2, storage::run_owner::gone));
  CHECK(state_of(x) == storage::run_state::completed);
}

TEST_CASE("who asked and went away leaves no run behind") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {scripted_model::hold};
  const auto spec = x.make_spec();
  const asker first{x, start_run{spec, x.reader}};
  x.settle();
  caf::anon_send(x.registry, withdraw_run{spec->run, x.reader});
  x.run_out(5s);
  CHECK(state_of(x) == storage::run_state::cancelled);
}

TEST_CASE("a reader that nobody reads by is forgotten") {
  struct left_reader final : subscriber {
    std::uint64_t position() const override { return 0; }
    bool offer(const storage::event_block&) override { return false; }
    void behind() override {}
    void closed(const std::optional<error>&) override {}
    bool gone() const override { return true; }
  };
  actor_fixture x;
  x.begin();
  x.provider->answers = {scripted_model::hold};
  x.start(x.make_spec());
  x.settle();
  std::vector<std::weak_ptr<subscriber>> left;
  for (int i = 0; i < 10; ++i) {
    auto reader = std::make_shared<left_reader>();
    left.emplace_back(reader);
    caf::anon_send(x.registry, attach_subscriber{x.run, std::move(reader)});
    x.settle();
  }
  CHECK(std::ranges::count_if(left, [](auto& w) { return !w.expired(); }) <= 1);
}

TEST_CASE("a run that the journal does not let go of is let go of later") {
  auto journal = std::make_shared<test_journal>();
  actor_fixture x{journal};
  x.begin();
  leave_behind(x);
  const auto owner = [&] { return journal->owner_of_run(x.run).value(); };
  REQUIRE(owner() == storage::run_owner::here);
  journal->fail_writes(true);
  caf::anon_send(x.store, disown_request{x.run});
  x.settle();
  x.advance(1s);
  x.settle();
  CHECK(owner() == storage::run_owner::here);
  journal->fail_writes(false);
  x.advance(1s);
  x.settle();
  CHECK(owner() != storage::run_owner::here);
}

TEST_CASE("a run that was taken again is not let go of behind its back") {
  auto journal = std::make_shared<test_journal>();
  actor_fixture x{journal};
  x.begin();
  leave_behind(x);
  journal->fail_writes(true);
  caf::anon_send(x.store, disown_request{x.run});
  x.settle();
  journal->fail_writes(false);
  caf::anon_send(x.store, adopt_run_request{x.run, {}});
  x.settle();
  x.advance(2s);
  x.settle();
  CHECK(journal->owner_of_run(x.run).value() == storage::run_owner::here);
}
