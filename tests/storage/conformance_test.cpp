// SPDX-License-Identifier: MIT
// What the port promises, for every journal that there is.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "tests/storage/journal_kinds.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace riffle::storage;

TEMPLATE_TEST_CASE("a new run begins its session", "", EVERY_JOURNAL) {
  TestType kind;
  auto wanted = make_run("ses_1", "run_1");
  const auto opened = kind.j->open_run(wanted);
  REQUIRE(opened);
  wanted.ordinal = 1;
  CHECK(opened->run == wanted);
  CHECK(opened->last_seq == 0);
  CHECK(opened->session.session == wanted.session);
  CHECK(opened->session.runs == std::vector{wanted});
  CHECK(opened->session.messages.empty());
  CHECK(opened->session.calls.empty());
  CHECK(kind.j->load_run({"run_1"}).value() == wanted);
}

TEMPLATE_TEST_CASE("a session has one active run", "", EVERY_JOURNAL) {
  TestType kind;
  auto first = kind.j->open_run(make_run("ses_1", "run_1"))->run;
  const auto second = kind.j->open_run(make_run("ses_1", "run_2"));
  REQUIRE_FALSE(second);
  CHECK(second.error().code == errc::session_busy);
  CHECK(second.error().message.find("run_1") != std::string::npos);
  CHECK(second.error().message.find("process") != std::string::npos);
  CHECK(kind.j->load_run({"run_2"}).error().code == errc::not_found);

  first.state = run_state::completed;
  REQUIRE_FALSE(kind.put({first.id, {}, {first}}));
  const auto third = kind.j->open_run(make_run("ses_1", "run_3"));
  REQUIRE(third);
  CHECK(third->run.ordinal == 2);
  CHECK(third->session.runs == std::vector{first, third->run});
}

TEMPLATE_TEST_CASE("a run cannot be opened twice or without ids", "",
                   EVERY_JOURNAL) {
  TestType kind;
  REQUIRE(kind.j->open_run(make_run("ses_1", "run_1")));
  const auto code = [&](run_record run) {
    return kind.j->open_run(std::move(run)).error().code;
  };
  CHECK(code(make_run("ses_2", "run_1")) == errc::invalid_request);
  CHECK(code(make_run("ses_2", "")) == errc::invalid_request);
  CHECK(code(make_run("", "run_2")) == errc::invalid_request);
  auto finished = make_run("ses_2", "run_2");
  finished.state = run_state::failed;
  CHECK(code(finished) == errc::invalid_request);
  CHECK(kind.j->load_session({"ses_2"}).error().code == errc::not_found);
}

TEMPLATE_TEST_CASE("what a unit holds comes back whole", "", EVERY_JOURNAL) {
  TestType kind;
  auto run = kind.j->open_run(make_run("ses_1", "run_1"))->run;
  run.step = 2;
  run.step_attempt = 3;
  run.attempt_seq = 4;
  run.turn_committed = true;
  run.turn_safe = true;
  run.tool_calls = 5;
  run.usage = {1, 2, 3, 4, 0.5, true};
  run.recoveries = 6;
  run.reminders = 7;
  run.plan = R"([{"id":1}])";
  const auto message = make_message(run, "two\n\"lines\" \xE2\x82\xAC");
  const auto call = make_call("run_1", "call_1");
  std::string output{"binary \0 and \xFF bytes", 21};
  REQUIRE_FALSE(
      kind.put({run.id,
                make_block("run_1", 1, 3),
                {run, message, call, output_record{{"call_1"}, output}}}));
  const auto session = kind.j->load_session({"ses_1"});
  REQUIRE(session);
  CHECK(session->runs == std::vector{run});
  CHECK(session->messages == std::vector{message});
  CHECK(session->calls == std::vector{call});
  CHECK(kind.j->load_output({"call_1"}).value() == output);
  CHECK(read_all(*kind.j, "run_1").value() == make_lines("run_1", 1, 3));
  CHECK(kind.j->adopt_run({"run_1"})->last_seq == 3);
}

TEMPLATE_TEST_CASE("messages and calls keep the order of their arrival", "",
                   EVERY_JOURNAL) {
  TestType kind;
  auto run = kind.j->open_run(make_run("ses_1", "run_1"))->run;
  auto a = make_call("run_1", "call_z");
  auto b = make_call("run_1", "call_a");
  const auto one = make_message(run, "one");
  const auto two = make_message(run, "two");
  REQUIRE_FALSE(kind.put({run.id, {}, {one, a, b}}));
  a.stage = call_stage::intent;
  run.state = run_state::cancelled;
  REQUIRE_FALSE(kind.put({run.id, {}, {two, a, run}}));
  auto next = kind.j->open_run(make_run("ses_1", "run_0"))->run;
  auto three = make_message(next, "three");
  REQUIRE_FALSE(kind.put({next.id, {}, {three}}));
  const auto session = kind.j->load_session({"ses_1"}).value();
  CHECK(session.messages == std::vector{one, two, three});
  CHECK(session.calls == std::vector{a, b});
}

TEMPLATE_TEST_CASE("pages of a log are cut to what was asked for", "",
                   EVERY_JOURNAL) {
  TestType kind;
  REQUIRE(kind.j->open_run(make_run("ses_1", "run_1")));
  REQUIRE(kind.j->open_run(make_run("ses_2", "run_2")));
  const auto empty = kind.j->read_events({"run_1"}, 0, 100).value();
  CHECK(empty.end);
  CHECK(empty.blocks.empty());
  REQUIRE_FALSE(kind.put(log_unit("run_1", 1, 4)));
  REQUIRE_FALSE(kind.put(log_unit("run_2", 1, 9)));
  REQUIRE_FALSE(kind.put(log_unit("run_1", 5, 5)));
  REQUIRE_FALSE(kind.put(log_unit("run_1", 6, 12)));
  for (std::uint64_t after = 0; after <= 12; ++after)
    for (const std::size_t bytes : {1, 100, 400, 100000}) {
      CAPTURE(after, bytes);
      CHECK(read_all(*kind.j, "run_1", after, bytes).value() ==
            make_lines("run_1", after + 1, 12));
    }
  const auto page = kind.j->read_events({"run_1"}, 2, 1).value();
  REQUIRE(page.blocks.size() == 1);
  CHECK(page.blocks[0].first_seq == 3);
  CHECK(page.blocks[0].last_seq == 4);
  CHECK_FALSE(page.end);
  const auto last = kind.j->read_events({"run_1"}, 11, 1).value();
  CHECK(last.end);
  const auto beyond = kind.j->read_events({"run_1"}, 99, 1).value();
  CHECK(beyond.end);
  CHECK(beyond.blocks.empty());
  CHECK(kind.j->read_events({"run_3"}, 0, 1).error().code == errc::not_found);
}

TEMPLATE_TEST_CASE("a log with a gap is refused, then all of its run is", "",
                   EVERY_JOURNAL) {
  TestType kind;
  REQUIRE(kind.j->open_run(make_run("ses_1", "run_1")));
  REQUIRE(kind.j->open_run(make_run("ses_2", "run_2")));
  REQUIRE_FALSE(kind.put(log_unit("run_1", 1, 2)));
  const auto gap = kind.put(log_unit("run_1", 4, 5));
  REQUIRE(gap);
  CHECK(gap->code == errc::storage_corrupt);
  CHECK(gap->message.find("run_1") != std::string::npos);
  CHECK(kind.put(log_unit("run_1", 3, 3)));
  CHECK(read_all(*kind.j, "run_1").value() == make_lines("run_1", 1, 2));
  // Other runs have nothing to do with it, and an adoption begins anew.
  CHECK_FALSE(kind.put(log_unit("run_2", 1, 1)));
  CHECK(kind.j->open_run(make_run("ses_3", "run_3")));
  const auto again = kind.j->adopt_run({"run_1"});
  REQUIRE(again);
  CHECK(again->last_seq == 2);
  CHECK_FALSE(kind.put(log_unit("run_1", 3, 3)));
}

TEMPLATE_TEST_CASE("a disowned run is nobody's until it is adopted", "",
                   EVERY_JOURNAL) {
  TestType kind;
  const run_id run{"run_1"};
  CHECK(kind.j->owner_of_run(run).error().code == errc::not_found);
  REQUIRE(kind.j->open_run(make_run("ses_1", "run_1")));
  REQUIRE_FALSE(kind.put(log_unit("run_1", 1, 2)));
  CHECK(kind.j->owner_of_run(run).value() == run_owner::here);
  REQUIRE(kind.j->disown_run(run));
  CHECK(kind.j->owner_of_run(run).value() == run_owner::gone);
  CHECK(kind.j->ask_cancel(run, "enough").value() == cancel_verdict::gone);
  CHECK(kind.put(log_unit("run_1", 3, 3)));  // not ours to write
  REQUIRE(kind.j->open_run(make_run("ses_2", "run_2")));
  CHECK_FALSE(kind.put(log_unit("run_2", 1, 1)));
  REQUIRE(kind.j->adopt_run(run));
  CHECK(kind.j->owner_of_run(run).value() == run_owner::here);
  CHECK_FALSE(kind.put(log_unit("run_1", 3, 3)));
  CHECK(kind.j->disown_run({"run_9"}));  // nothing to let go of
}

TEMPLATE_TEST_CASE("a unit that contradicts itself is refused", "",
                   EVERY_JOURNAL) {
  TestType kind;
  const auto run = kind.j->open_run(make_run("ses_1", "run_1"))->run;
  auto unit = log_unit("run_1", 1, 2);
  SECTION("too few lines") { unit.block->last_seq = 3; }
  SECTION("too many lines") { unit.block->last_seq = 1; }
  SECTION("numbers backwards") { unit.block->last_seq = 0; }
  SECTION("no lines") { unit.block->lines = nullptr; }
  SECTION("half a line") {
    unit.block->lines = std::make_shared<const std::string>("\n{}\n{");
  }
  SECTION("an unknown run") {
    unit.run = {"run_9"};
    unit.block = make_block("run_9", 1, 2);
  }
  SECTION("a record of another run") {
    unit.changes.push_back(make_run("ses_1", "run_2"));
  }
  SECTION("a record without its ordinal") {
    unit.changes.push_back(make_run("ses_1", "run_1"));
  }
  SECTION("a call of another run") {
    unit.changes.push_back(make_call("run_2", "call_1"));
  }
  SECTION("a message of another session") {
    auto message = make_message(run, "x");
    message.session = {"ses_2"};
    unit.changes.push_back(message);
  }
  const auto failure = kind.put(unit);
  REQUIRE(failure);
  CHECK(failure->code == errc::storage_corrupt);
  CHECK(read_all(*kind.j, "run_1").value().empty());
  CHECK(kind.j->load_session({"ses_1"})->runs == std::vector{run});
}

TEMPLATE_TEST_CASE("completions of a run come once, in order, after the unit",
                   "", EVERY_JOURNAL) {
  TestType kind;
  REQUIRE(kind.j->open_run(make_run("ses_1", "run_1")));
  std::vector<std::uint64_t> order;  // one thread completes at a time
  std::atomic<int> missing_lines{0};
  std::atomic<std::uint64_t> done{0};
  for (std::uint64_t seq = 1; seq <= 200; ++seq)
    kind.j->append(log_unit("run_1", seq, seq), [&, seq](auto failure) {
      order.push_back(failure ? 0 : seq);
      if (seq % 50 == 0 && read_all(*kind.j, "run_1", 0, 10000).value().size() <
                               make_lines("run_1", 1, seq).size())
        ++missing_lines;
      done = seq;
    });
  kind.settle();
  REQUIRE(kind.j->adopt_run({"run_1"})->last_seq == 200);
  CHECK(done == 200);
  CHECK(missing_lines == 0);
  std::vector<std::uint64_t> all;
  for (std::uint64_t seq = 1; seq <= 200; ++seq) all.push_back(seq);
  CHECK(order == all);
}

TEMPLATE_TEST_CASE("a run can be adopted again by its own process", "",
                   EVERY_JOURNAL) {
  TestType kind;
  auto run = kind.j->open_run(make_run("ses_1", "run_1"))->run;
  kind.j->append(log_unit("run_1", 1, 7), [](auto) {});
  const auto adopted = kind.j->adopt_run(run.id);
  REQUIRE(adopted);
  CHECK(adopted->last_seq == 7);
  CHECK(adopted->run == run);
  REQUIRE_FALSE(kind.put(log_unit("run_1", 8, 8)));
  run.state = run_state::failed;
  REQUIRE_FALSE(kind.put({run.id, {}, {run}}));
  CHECK(kind.j->adopt_run(run.id).error().code == errc::invalid_request);
  CHECK(kind.j->adopt_run({"run_9"}).error().code == errc::not_found);
}

TEMPLATE_TEST_CASE("sessions are listed from the newest", "", EVERY_JOURNAL) {
  TestType kind;
  CHECK(kind.j->list_sessions(5)->empty());
  for (const std::string name : {"b", "c", "a"})
    REQUIRE(kind.j->open_run(make_run("ses_" + name, "run_" + name)));
  using ids = std::vector<session_id>;
  CHECK(kind.j->list_sessions(9).value() ==
        ids{{"ses_a"}, {"ses_c"}, {"ses_b"}});
  CHECK(kind.j->list_sessions(2).value() == ids{{"ses_a"}, {"ses_c"}});
  CHECK(kind.j->list_sessions(0)->empty());
}

TEMPLATE_TEST_CASE("a session that goes on is listed first", "",
                   EVERY_JOURNAL) {
  TestType kind;
  for (const std::string name : {"b", "c", "a"}) {
    auto run = kind.j->open_run(make_run("ses_" + name, "run_" + name))->run;
    run.state = run_state::completed;
    REQUIRE_FALSE(kind.put({run.id, {}, {run}}));
  }
  REQUIRE(kind.j->open_run(make_run("ses_c", "run_again")));
  using ids = std::vector<session_id>;
  CHECK(kind.j->list_sessions(9).value() ==
        ids{{"ses_c"}, {"ses_a"}, {"ses_b"}});
  CHECK(kind.j->list_sessions(1).value() == ids{{"ses_c"}});
  REQUIRE(kind.j->delete_session({"ses_a"}));
  CHECK(kind.j->list_sessions(2).value() == ids{{"ses_c"}, {"ses_b"}});
}

TEMPLATE_TEST_CASE("what is not there is not found", "", EVERY_JOURNAL) {
  TestType kind;
  CHECK(kind.j->load_session({"ses"}).error().code == errc::not_found);
  CHECK(kind.j->load_run({"run"}).error().code == errc::not_found);
  CHECK(kind.j->load_output({"call"}).error().code == errc::not_found);
}

TEMPLATE_TEST_CASE("many threads append and read at once", "", EVERY_JOURNAL) {
  TestType kind;
  constexpr std::uint64_t count = 100;
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const auto name = "run_" + std::to_string(t);
      if (!kind.j->open_run(make_run("ses_" + name, name))) ++failures;
      for (std::uint64_t seq = 1; seq <= count; ++seq) {
        kind.j->append(log_unit(name, seq, seq), [&](auto failure) {
          if (failure) ++failures;
        });
        if (seq % 10 == 0) {
          const auto lines = read_all(*kind.j, name, 0, 500);
          if (!lines || make_lines(name, 1, seq).find(*lines) != 0) ++failures;
        }
      }
      kind.settle();
      if (kind.j->adopt_run({name})->last_seq != count) ++failures;
    });
  for (auto& thread : threads) thread.join();
  CHECK(failures == 0);
}

TEMPLATE_TEST_CASE("a deleted session is gone, and others stay", "",
                   EVERY_JOURNAL) {
  TestType kind;
  CHECK(kind.j->delete_session({"ses_1"}).error().code == errc::not_found);
  for (const std::string run : {"run_1", "run_2", "run_3"}) {
    auto record = make_run(run == "run_2" ? "ses_2" : "ses_1", run);
    auto opened = kind.j->open_run(record);
    REQUIRE(opened);
    auto unit = log_unit(run, 1, 3);
    auto done = opened->run;
    done.state = run_state::completed;
    call_record call;
    call.call.id = {"call_" + run};
    call.run = {run};
    unit.changes = {call, output_record{call.call.id, "text of " + run}, done};
    if (run == "run_3") {
      CHECK(kind.j->delete_session({"ses_1"}).error().code ==
            errc::session_busy);
      CHECK(kind.j->load_run({"run_1"}));
    }
    REQUIRE_FALSE(kind.put(unit));
  }
  REQUIRE(kind.j->delete_session({"ses_1"}));
  CHECK(kind.j->load_session({"ses_1"}).error().code == errc::not_found);
  for (const std::string run : {"run_1", "run_3"}) {
    CHECK(kind.j->load_run({run}).error().code == errc::not_found);
    CHECK(kind.j->load_output({"call_" + run}).error().code == errc::not_found);
    CHECK(kind.j->read_events({run}, 0, 1000).error().code == errc::not_found);
  }
  CHECK(kind.j->load_output({"call_run_2"}).value() == "text of run_2");
  CHECK(kind.j->list_sessions(9).value() == std::vector<session_id>{{"ses_2"}});
  // The name is free again, and nothing of the old one comes back.
  const auto again = kind.j->open_run(make_run("ses_1", "run_1"));
  REQUIRE(again);
  CHECK(again->run.ordinal == 1);
  CHECK(again->last_seq == 0);
  CHECK(again->session.calls.empty());
}
