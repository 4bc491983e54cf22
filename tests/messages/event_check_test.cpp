// SPDX-License-Identifier: MIT
#include "messages/event_check.hpp"

#include <random>
#include <sstream>

#include "tests/messages/event_check_support.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;

TEST_CASE("valid logs keep every promise") {
  const auto report = check(full_log());
  CHECK(report.ok());
  CHECK(report.runs == 1);
  CHECK(report.events == 25);
  CHECK(broken(event_log_builder{}.start().fail().finish(
            events::run_status::failed)) == 0);
  CHECK(broken(event_log_builder{}
                   .start()
                   .step()
                   .call("a")
                   .result("a", outcome::cancelled)
                   .fail(errc::cancelled)
                   .fail()
                   .finish(events::run_status::cancelled)) == 0);
  CHECK(broken(event_log_builder{}
                   .start()
                   .step()
                   .ask("a")
                   .decide("a", events::proposal_outcome::denied)
                   .call_not_started("a", "write")
                   .result("a", outcome::denied)
                   .text("no")
                   .answer()
                   .finish()) == 0);
}

TEST_CASE("promise 1: seq is 1, 2, 3 without gaps") {
  auto log = full_log();
  SECTION("a line is missing") { log.erase(log.begin() + 5); }
  SECTION("the first line is missing") { log.erase(log.begin()); }
  SECTION("a line stands twice") { log.insert(log.begin() + 5, log[5]); }
  SECTION("two lines changed places") { std::swap(log[5], log[6]); }
  SECTION("it starts at 0") {
    for (auto& x : log) --x.seq;
  }
  CHECK(broken(log) == 1);
}

TEST_CASE("promise 1: one run_started, and it is first") {
  CHECK(broken(without<events::run_started>(full_log())) == 1);
  CHECK(broken(twice<events::run_started>(full_log())) == 1);
  CHECK(broken(moved(full_log(), 1, 2)) == 1);
}

TEST_CASE("promise 1: all events of a log are of one run") {
  CHECK(broken(changed(full_log(), [](auto& log) { log[7].run = {"x"}; })) ==
        1);
}

TEST_CASE("promise 1: each line is an event") {
  const auto broken_text = [](const std::string& from, const std::string& to) {
    auto text = to_text(full_log());
    text.replace(text.find(from), from.size(), to);
    std::istringstream in{text};
    const auto report = check_events(in);
    return report.ok() ? 0 : report.violations.front().promise;
  };
  CHECK(broken_text("\"timestamp\":\"2026-01-31T", "\"timestamp\":\"2026 ") ==
        1);
  CHECK(broken_text("\"event_type\":\"status\"", "\"event_type\":\"stats\"") ==
        1);
  CHECK(broken_text("\"max_steps\"", "\"max_stops\"") == 1);
  CHECK(broken_text("}\n", "\n") == 1);
  CHECK(broken_text("}\n", "}\n\n") == 1);
}

TEST_CASE("after a line that is no event the check goes on") {
  auto text = to_text(full_log());
  const auto begin = text.find("{\"seq\":5,");
  text.replace(begin, text.find('\n', begin) - begin, "garbage");
  std::istringstream in{text};
  const auto report = check_events(in);
  REQUIRE(report.broken == 1);
  CHECK(render(report.violations.front()) ==
        "line 5: promise 1: not an event: the line is no JSON object");
  CHECK(report.events == 24);
}

TEST_CASE("promise 2: each call has one tool_call") {
  CHECK(broken(without<events::tool_call>(full_log())) == 2);
  CHECK(broken(twice<events::tool_call>(full_log())) == 2);
  // After its result the same id must not come again.
  CHECK(broken(event_log_builder{}
                   .start()
                   .step()
                   .call("a")
                   .result("a")
                   .call("a")
                   .result("a")
                   .answer("")
                   .finish()) == 2);
}

TEST_CASE("promise 2: each call has one tool_result") {
  CHECK(broken(twice<events::tool_result>(full_log())) == 2);
  CHECK(broken(
            event_log_builder{}.start().step().call("a").answer("").finish()) ==
        2);
  CHECK(
      broken(event_log_builder{}.start().step().ask("a").answer("").finish()) ==
      2);
  CHECK(broken(event_log_builder{}
                   .start()
                   .step()
                   .ask("a")
                   .decide("a")
                   .answer("")
                   .finish()) == 2);
}

TEST_CASE("promise 2: tool_call, then progress, then tool_result") {
  CHECK(broken(moved(full_log(), 13, 9)) == 2);   // result before call
  CHECK(broken(moved(full_log(), 10, 9)) == 2);   // progress before call
  CHECK(broken(moved(full_log(), 10, 13)) == 2);  // progress after result
  CHECK(broken(changed(full_log(), [](auto& log) {
          get<events::tool_progress>(log).id = {"nobody"};
        })) == 2);
  CHECK(broken(event_log_builder{}
                   .start()
                   .step()
                   .call_not_started("a")
                   .progress("a")
                   .result("a", outcome::skipped)
                   .answer("")
                   .finish()) == 2);
}

TEST_CASE("promise 2: the events of a call name one tool") {
  CHECK(broken(changed(full_log(), [](auto& log) {
          get<events::tool_result>(log).tool = "other";
        })) == 2);
  CHECK(broken(changed(full_log(), [](auto& log) {
          get<events::tool_progress>(log).tool = "other";
        })) == 2);
  CHECK(broken(changed(full_log(), [](auto& log) {
          get<events::approval_required>(log).tool = "other";
        })) == 2);
}

TEST_CASE("promise 2: required, then resolved, then the call") {
  CHECK(broken(without<events::approval_required>(full_log())) == 2);
  CHECK(broken(without<events::approval_resolved>(full_log())) == 2);
  CHECK(broken(twice<events::approval_required>(full_log())) == 2);
  CHECK(broken(twice<events::approval_resolved>(full_log())) == 2);
  CHECK(broken(moved(full_log(), 14, 12)) == 2);  // resolved first
  CHECK(broken(moved(full_log(), 14, 15)) == 2);  // resolved after the call
  CHECK(broken(moved(full_log(), 12, 15)) == 2);  // required after the call
  CHECK(broken(changed(full_log(), [](auto& log) {
          get<events::approval_resolved>(log).proposal = {"another"};
        })) == 2);
  CHECK(broken(changed(full_log(), [](auto& log) {
          get<events::approval_resolved>(log).id = {"a"};
        })) == 2);
}

TEST_CASE("promise 2: a call that was not approved does not begin") {
  for (auto how :
       {events::proposal_outcome::denied, events::proposal_outcome::expired,
        events::proposal_outcome::cancelled}) {
    CHECK(broken(changed(full_log(), [&](auto& log) {
            get<events::approval_resolved>(log).how = how;
          })) == 2);
  }
}

TEST_CASE("promise 2: a proposal is made once") {
  CHECK(broken(event_log_builder{}
                   .start()
                   .step()
                   .ask("a")
                   .decide("a")
                   .ask("a")
                   .decide("a")
                   .call("a", "write")
                   .result("a")
                   .answer("")
                   .finish()) == 2);
}

TEST_CASE("promise 2: ids of calls are unique over all runs") {
  auto log = event_log_builder{"run_1"}
                 .start()
                 .step()
                 .call("a")
                 .result("a")
                 .answer("")
                 .finish();
  const auto next = event_log_builder{"run_2"}
                        .start()
                        .step()
                        .call("a")
                        .result("a")
                        .answer("")
                        .finish();
  log.insert(log.end(), next.begin(), next.end());
  CHECK(broken(log) == 2);
}

TEST_CASE("several runs may follow one another") {
  event_log log;
  for (const auto* name : {"run_1", "run_2", "run_3"}) {
    const auto next =
        event_log_builder{name}.start().step().text("x").answer().finish();
    log.insert(log.end(), next.begin(), next.end());
  }
  const auto report = check(log);
  CHECK(report.ok());
  CHECK(report.runs == 3);
  CHECK(report.events == 15);

  SECTION("the first was cut off") {
    log.erase(log.begin() + 4);
    CHECK(first_text(log) ==
          "line 14, seq 4: promise 4: the log ends before run_finished of"
          " run_1");
    CHECK(check(log).broken == 1);
  }
  SECTION("the first goes on after the second") {
    auto late = log[1];
    late.seq = 6;
    log.insert(log.begin() + 10, late);
    CHECK(first_text(log) ==
          "line 11, seq 6: promise 4: step_start after run_finished, which"
          " must be the last event");
  }
  SECTION("a run does not begin with run_started") {
    log.erase(log.begin() + 5);
    CHECK(broken(log) == 1);
  }
}

TEST_CASE("the logs of several runs may be mixed, line by line") {
  std::vector<event_log> runs;
  for (const auto* name : {"run_1", "run_2", "run_3"})
    runs.push_back(
        event_log_builder{name}.start().step().text("x").answer().finish());
  std::mt19937 random{1};
  for (int round = 0; round < 200; ++round) {
    std::vector<std::size_t> next(runs.size());
    event_log mixed;
    while (mixed.size() < 15) {
      const auto i = random() % runs.size();
      if (next[i] < runs[i].size()) mixed.push_back(runs[i][next[i]++]);
    }
    REQUIRE(check(mixed).ok());
    // A line that is missing, stands twice, or is another run's is found.
    const auto at = static_cast<std::ptrdiff_t>(random() % mixed.size());
    auto less = mixed;
    less.erase(less.begin() + at);
    REQUIRE_FALSE(check(less).ok());
    auto more = mixed;
    more.insert(more.begin() + at, mixed[static_cast<std::size_t>(at)]);
    REQUIRE_FALSE(check(more).ok());
    auto other = mixed;
    auto& run = other[static_cast<std::size_t>(at)].run;
    run = {run.value == "run_1" ? "run_2" : "run_1"};
    REQUIRE_FALSE(check(other).ok());
  }
}

TEST_CASE("an unfinished log is allowed where one says so") {
  const auto log = full_log();
  for (std::size_t n = 0; n < log.size(); ++n) {
    const event_log begin(log.begin(),
                          log.begin() + static_cast<std::ptrdiff_t>(n));
    CAPTURE(n);
    CHECK(check(begin, {.allow_unfinished = true}).ok());
    CHECK(broken(begin) == 4);
  }
}

TEST_CASE("a violation says where, what and why") {
  auto log = full_log();
  log.erase(log.begin() + 5);
  CHECK(first_text(log) == "line 6, seq 7: promise 1: seq 7 where 6 was due");
  CHECK(first_text(twice<events::tool_result>(full_log())) ==
        "line 14, seq 14: promise 2: call b has a tool_result after its"
        " tool_result");
  CHECK(first_text(without<events::tool_result>(full_log(), 1)) ==
        "line 19, seq 19: promise 3: step_start while call a has no"
        " tool_result");
}

TEST_CASE("a report keeps some violations and counts all") {
  event_log log = full_log();
  for (int i = 0; i < 300; ++i) log.push_back(log.back());
  const auto report = check(log);
  CHECK(report.broken == 300);
  CHECK(report.violations.size() == check_report::max_violations);
}

TEST_CASE("a log that has no line ends is not read for ever") {
  struct endless final : std::streambuf {
    int_type underflow() override {
      setg(bytes.data(), bytes.data(), bytes.data() + bytes.size());
      return traits_type::to_int_type(bytes.front());
    }
    std::string bytes = std::string(1u << 20, 'x');
  } bytes;
  std::istream in{&bytes};
  const auto report = check_events(in);
  REQUIRE(report.broken == 2);
  CHECK(report.violations.front().text.find("longer than 64 MiB") !=
        std::string::npos);
}

TEST_CASE("long lines, and a last one without an end, are read whole") {
  auto text = to_text(full_log());
  text.pop_back();
  std::istringstream in{text};
  CHECK(check_events(in).ok());
  for (const std::size_t size : {16382, 16383, 16384, 16385, 40000}) {
    CAPTURE(size);
    std::istringstream log{"{" + std::string(size - 2, ' ') + "}\n\n" + text};
    const auto report = check_events(log);
    REQUIRE(report.violations.size() >= 2);
    CHECK(report.violations[0].line == 1);
    CHECK(report.violations[1].line == 2);
    CHECK(report.events == 25);
  }
}
