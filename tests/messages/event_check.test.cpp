// SPDX-License-Identifier: MIT
#include "messages/event_check.hpp"

#include <functional>
#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/support/event_log_builder.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

check_report check(const event_log& log, event_check_options options = {}) {
  std::istringstream text{to_text(log)};
  return check_events(text, options);
}

// The number of the promise that the log breaks first; 0 if it keeps all.
int broken(const event_log& log) {
  const auto report = check(log);
  return report.ok() ? 0 : report.violations.front().promise;
}

std::string first_text(const event_log& log) {
  const auto report = check(log);
  return report.ok() ? "" : render(report.violations.front());
}

// Two steps, calls in parallel, an approval, a restart, an answer.
event_log full_log() {
  return event_log_builder{}
    .start()
    .step()                                      // 2
    .text("Let me ")                             // 3
    .restart()                                   // 4
    .status()                                    // 5
    .reasoning("hm")                             // 6
    .text("look. ")                              // 7
    .call("a")                                   // 8
    .call("b", "grep")                           // 9
    .progress("b")                               // 10
    .progress("a")                               // 11
    .ask("w")                                    // 12
    .result("b")                                 // 13
    .decide("w")                                 // 14
    .call("w", "write")                          // 15
    .result("a", outcome::failed)                // 16
    .result("w")                                 // 17
    .usage()                                     // 18
    .retry()                                     // 19
    .step()                                      // 20
    .text("All ")                                // 21
    .text("done.")                               // 22
    .usage()                                     // 23
    .answer()                                    // 24
    .finish();                                   // 25
}

template <class Body>
Body& get(event_log& log, std::size_t n = 0) {
  return std::get<Body>(log.at(find_event<Body>(log, n)).body);
}

template <class Body>
event_log without(event_log log, std::size_t n = 0) {
  log.erase(log.begin()
            + static_cast<std::ptrdiff_t>(find_event<Body>(log, n)));
  renumber(log);
  return log;
}

template <class Body>
event_log twice(event_log log, std::size_t n = 0) {
  const auto at = static_cast<std::ptrdiff_t>(find_event<Body>(log, n));
  log.insert(log.begin() + at, log[static_cast<std::size_t>(at)]);
  renumber(log);
  return log;
}

// Moves the event with this `seq` to the place of another.
event_log moved(event_log log, std::size_t seq, std::size_t to) {
  auto x = log.at(seq - 1);
  log.erase(log.begin() + static_cast<std::ptrdiff_t>(seq - 1));
  log.insert(log.begin() + static_cast<std::ptrdiff_t>(to - 1), x);
  renumber(log);
  return log;
}

event_log changed(event_log log, const std::function<void(event_log&)>& f) {
  f(log);
  return log;
}

}  // namespace

TEST_CASE("valid logs keep every promise") {
  const auto report = check(full_log());
  CHECK(report.ok());
  CHECK(report.runs == 1);
  CHECK(report.events == 25);
  CHECK(broken(event_log_builder{}.start().fail().finish(
          events::run_status::failed))
        == 0);
  CHECK(broken(event_log_builder{}
                 .start().step().call("a").result("a", outcome::cancelled)
                 .fail(errc::cancelled).fail()
                 .finish(events::run_status::cancelled))
        == 0);
  CHECK(broken(event_log_builder{}
                 .start().step().ask("a")
                 .decide("a", events::decision::denied)
                 .call_not_started("a", "write").result("a", outcome::denied)
                 .text("no").answer().finish())
        == 0);
}

TEST_CASE("an answer by complete or a fallback needs not be the text") {
  CHECK(broken(event_log_builder{}
                 .start().step().text("working").call("c", "complete")
                 .result("c").answer("the result").finish())
        == 0);
  CHECK(broken(event_log_builder{}
                 .start().step().text(" \n").answer("fallback").finish())
        == 0);
  CHECK(broken(event_log_builder{}
                 .start().step().text("working").call("c", "complete")
                 .result("c", outcome::failed).answer("else").finish())
        == 4);
  CHECK(broken(event_log_builder{}
                 .start().step().call("c", "complete").result("c")
                 .step().text("more").answer("else").finish())
        == 4);
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
  CHECK(broken(changed(full_log(), [](auto& log) { log[7].run = {"x"}; }))
        == 1);
}

TEST_CASE("promise 1: each line is an event") {
  const auto broken_text = [](const std::string& from, const std::string& to) {
    auto text = to_text(full_log());
    text.replace(text.find(from), from.size(), to);
    std::istringstream in{text};
    const auto report = check_events(in);
    return report.ok() ? 0 : report.violations.front().promise;
  };
  CHECK(broken_text("\"timestamp\":\"2026-01-31T", "\"timestamp\":\"2026 ")
        == 1);
  CHECK(broken_text("\"event_type\":\"status\"", "\"event_type\":\"stats\"")
        == 1);
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
  CHECK(render(report.violations.front())
        == "line 5: promise 1: not an event: the line is no JSON object");
  CHECK(report.events == 24);
}

TEST_CASE("promise 2: each call has one tool_call") {
  CHECK(broken(without<events::tool_call>(full_log())) == 2);
  CHECK(broken(twice<events::tool_call>(full_log())) == 2);
  // After its result the same id must not come again.
  CHECK(broken(event_log_builder{}
                 .start().step().call("a").result("a").call("a").result("a")
                 .answer("").finish())
        == 2);
}

TEST_CASE("promise 2: each call has one tool_result") {
  CHECK(broken(twice<events::tool_result>(full_log())) == 2);
  CHECK(broken(event_log_builder{}.start().step().call("a").answer("").finish())
        == 2);
  CHECK(broken(event_log_builder{}.start().step().ask("a").answer("").finish())
        == 2);
  CHECK(broken(event_log_builder{}
                 .start().step().ask("a").decide("a").answer("").finish())
        == 2);
}

TEST_CASE("promise 2: tool_call, then progress, then tool_result") {
  CHECK(broken(moved(full_log(), 13, 9)) == 2);   // result before call
  CHECK(broken(moved(full_log(), 10, 9)) == 2);   // progress before call
  CHECK(broken(moved(full_log(), 10, 13)) == 2);  // progress after result
  CHECK(broken(changed(full_log(), [](auto& log) {
          get<events::tool_progress>(log).id = {"nobody"};
        }))
        == 2);
  CHECK(broken(event_log_builder{}
                 .start().step().call_not_started("a").progress("a")
                 .result("a", outcome::skipped).answer("").finish())
        == 2);
}

TEST_CASE("promise 2: the events of a call name one tool") {
  CHECK(broken(changed(full_log(), [](auto& log) {
          get<events::tool_result>(log).tool = "other";
        }))
        == 2);
  CHECK(broken(changed(full_log(), [](auto& log) {
          get<events::tool_progress>(log).tool = "other";
        }))
        == 2);
  CHECK(broken(changed(full_log(), [](auto& log) {
          get<events::approval_required>(log).tool = "other";
        }))
        == 2);
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
        }))
        == 2);
  CHECK(broken(changed(full_log(), [](auto& log) {
          get<events::approval_resolved>(log).id = {"a"};
        }))
        == 2);
}

TEST_CASE("promise 2: a call that was not approved does not begin") {
  for (auto how : {events::decision::denied, events::decision::expired,
                   events::decision::cancelled}) {
    CHECK(broken(changed(full_log(), [&](auto& log) {
            get<events::approval_resolved>(log).how = how;
          }))
          == 2);
  }
}

TEST_CASE("promise 2: a proposal is made once") {
  CHECK(broken(event_log_builder{}
                 .start().step().ask("a").decide("a").ask("a").decide("a")
                 .call("a", "write").result("a").answer("").finish())
        == 2);
}

TEST_CASE("promise 2: ids of calls are unique over all runs") {
  auto log = event_log_builder{"run_1"}.start().step().call("a").result("a")
               .answer("").finish();
  const auto next = event_log_builder{"run_2"}.start().step().call("a")
                      .result("a").answer("").finish();
  log.insert(log.end(), next.begin(), next.end());
  CHECK(broken(log) == 2);
}

TEST_CASE("promise 3: events of a step come after its step_start") {
  CHECK(broken(without<events::step_start>(full_log())) == 3);
  CHECK(broken(moved(full_log(), 21, 20)) == 3);  // text before its step
  CHECK(broken(moved(full_log(), 7, 20)) == 3);   // text after its step
  CHECK(broken(moved(full_log(), 6, 2)) == 3);    // reasoning
  CHECK(broken(moved(full_log(), 23, 20)) == 3);  // usage
  CHECK(broken(moved(full_log(), 4, 2)) == 3);    // restart
  CHECK(broken(changed(full_log(), [](auto& log) {
          get<events::tool_call>(log).step = 2;
        }))
        == 3);
  CHECK(broken(event_log_builder{}
                 .start().add(events::failure{{}, 1})
                 .finish(events::run_status::failed))
        == 3);
}

TEST_CASE("promise 3: steps are numbered 1, 2, 3") {
  CHECK(broken(twice<events::step_start>(full_log(), 1)) == 3);
  CHECK(broken(changed(full_log(), [](auto& log) {
          get<events::step_start>(log, 1).step = 3;
        }))
        == 3);
  CHECK(broken(event_log_builder{}
                 .start().add(events::step_start{0, 3}).answer("").finish())
        == 3);
}

TEST_CASE("promise 3: calls settle before the next step or attempt") {
  CHECK(broken(moved(full_log(), 17, 20)) == 3);
  CHECK(broken(without<events::tool_result>(full_log())) == 3);
  CHECK(broken(event_log_builder{}
                 .start().step().call("a").restart().result("a").answer("")
                 .finish())
        == 3);
  CHECK(broken(event_log_builder{}
                 .start().step().ask("a").step().decide("a")
                 .call("a", "write").result("a").answer("").finish())
        == 3);
}

TEST_CASE("promise 3: attempts of a step are counted") {
  CHECK(broken(twice<events::step_restarted>(full_log())) == 3);
  for (std::uint32_t attempt : {0u, 1u, 3u}) {
    CHECK(broken(changed(full_log(), [&](auto& log) {
            get<events::step_restarted>(log).attempt = attempt;
          }))
          == 3);
  }
}

TEST_CASE("promise 3: a restart withdraws events of its own step") {
  const auto with_range = [](std::uint64_t first, std::uint64_t last) {
    return changed(full_log(), [&](auto& log) {
      auto& x = get<events::step_restarted>(log);
      x.first_seq = first;
      x.last_seq = last;
    });
  };
  CHECK(broken(with_range(2, 3)) == 0);
  CHECK(broken(with_range(3, 3)) == 0);
  CHECK(broken(with_range(1, 3)) == 3);
  CHECK(broken(with_range(2, 4)) == 3);
  CHECK(broken(with_range(3, 2)) == 3);
  CHECK(broken(with_range(0, 0)) == 3);
}

TEST_CASE("promise 4: run_finished once, and last") {
  CHECK(broken(without<events::run_finished>(full_log())) == 4);
  CHECK(broken(twice<events::run_finished>(full_log())) == 4);
  CHECK(broken(moved(full_log(), 24, 25)) == 4);
  CHECK(broken({}) == 4);
}

TEST_CASE("promise 4: an answer or an error, as the status says") {
  CHECK(broken(without<events::final_answer>(full_log())) == 4);
  CHECK(broken(twice<events::final_answer>(full_log())) == 4);
  for (auto status :
       {events::run_status::failed, events::run_status::cancelled}) {
    CHECK(broken(changed(full_log(), [&](auto& log) {
            get<events::run_finished>(log).status = status;
          }))
          == 4);
    CHECK(broken(event_log_builder{}.start().finish(status)) == 4);
    CHECK(broken(event_log_builder{}
                   .start().step().fail().answer("").finish(status))
          == 4);
  }
  CHECK(broken(event_log_builder{}.start().step().fail().finish()) == 4);
  CHECK(broken(event_log_builder{}.start().step().fail().answer("").finish())
        == 4);
}

TEST_CASE("promise 4: no step begins after the answer or an error") {
  CHECK(broken(event_log_builder{}
                 .start().step().fail().step()
                 .finish(events::run_status::failed))
        == 4);
  CHECK(broken(event_log_builder{}
                 .start().step().answer("").restart().finish())
        == 4);
}

TEST_CASE("promise 4: the text of the last step is the answer") {
  CHECK(broken(without<events::llm_token>(full_log(), 2)) == 4);
  CHECK(broken(twice<events::llm_token>(full_log(), 3)) == 4);
  CHECK(broken(moved(full_log(), 21, 22)) == 4);
  CHECK(broken(changed(full_log(), [](auto& log) {
          get<events::final_answer>(log).content = "All done";
        }))
        == 4);
  // Withdrawn text is no part of it, other text of the attempt is.
  auto log = event_log_builder{}
               .start().step().text("old").restart().text("new").answer()
               .finish();
  CHECK(broken(log) == 0);
  get<events::final_answer>(log).content = "oldnew";
  CHECK(broken(log) == 4);
}

TEST_CASE("promise 4: the counts are those of the log") {
  CHECK(broken(changed(full_log(), [](auto& log) {
          ++get<events::final_answer>(log).steps;
        }))
        == 4);
  CHECK(broken(changed(full_log(), [](auto& log) {
          ++get<events::final_answer>(log).tools;
        }))
        == 4);
  CHECK(broken(changed(full_log(), [](auto& log) {
          --get<events::run_finished>(log).steps;
        }))
        == 4);
  CHECK(broken(changed(full_log(), [](auto& log) {
          --get<events::run_finished>(log).tool_calls;
        }))
        == 4);
}

TEST_CASE("several runs may follow one another") {
  event_log log;
  for (auto name : {"run_1", "run_2", "run_3"}) {
    const auto next
      = event_log_builder{name}.start().step().text("x").answer().finish();
    log.insert(log.end(), next.begin(), next.end());
  }
  const auto report = check(log);
  CHECK(report.ok());
  CHECK(report.runs == 3);
  CHECK(report.events == 15);

  SECTION("the first was cut off") {
    log.erase(log.begin() + 4);
    CHECK(first_text(log)
          == "line 5, seq 1: promise 4: run run_1 has no run_finished");
    CHECK(check(log).broken == 1);
  }
  SECTION("the first goes on after the second") {
    auto late = log[1];
    late.seq = 6;
    log.insert(log.begin() + 10, late);
    CHECK(first_text(log)
          == "line 11, seq 6: promise 4: run run_1 goes on after its"
             " run_finished");
  }
  SECTION("a run does not begin with run_started") {
    log.erase(log.begin() + 5);
    CHECK(broken(log) == 1);
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
  CHECK(first_text(twice<events::tool_result>(full_log()))
        == "line 14, seq 14: promise 2: call b has a tool_result after its"
           " tool_result");
  CHECK(first_text(without<events::tool_result>(full_log(), 1))
        == "line 19, seq 19: promise 3: step_start while call a has no"
           " tool_result");
}

TEST_CASE("a report keeps some violations and counts all") {
  event_log log = full_log();
  for (int i = 0; i < 300; ++i) log.push_back(log.back());
  const auto report = check(log);
  CHECK(report.broken == 300);
  CHECK(report.violations.size() == check_report::max_violations);
}
