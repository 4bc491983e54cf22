// SPDX-License-Identifier: MIT
// Promises 3 and 4.
#include "messages/event_check.hpp"
#include "tests/messages/event_check_support.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;

TEST_CASE("an answer by complete or a fallback needs not be the text") {
  CHECK(broken(event_log_builder{}
                   .start()
                   .step()
                   .text("working")
                   .call("c", "complete")
                   .result("c")
                   .answer("the result")
                   .finish()) == 0);
  CHECK(broken(event_log_builder{}
                   .start()
                   .step()
                   .text(" \n")
                   .answer("fallback")
                   .finish()) == 0);
  CHECK(broken(event_log_builder{}
                   .start()
                   .step()
                   .text("working")
                   .call("c", "complete")
                   .result("c", outcome::failed)
                   .answer("else")
                   .finish()) == 4);
  CHECK(broken(event_log_builder{}
                   .start()
                   .step()
                   .call("c", "complete")
                   .result("c")
                   .step()
                   .text("more")
                   .answer("else")
                   .finish()) == 4);
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
        })) == 3);
  CHECK(broken(event_log_builder{}
                   .start()
                   .add(events::failure{{}, 1})
                   .finish(events::run_status::failed)) == 3);
}

TEST_CASE("promise 3: steps are numbered 1, 2, 3") {
  CHECK(broken(twice<events::step_start>(full_log(), 1)) == 3);
  CHECK(broken(changed(full_log(), [](auto& log) {
          get<events::step_start>(log, 1).step = 3;
        })) == 3);
  CHECK(broken(event_log_builder{}
                   .start()
                   .add(events::step_start{0, 3})
                   .answer("")
                   .finish()) == 3);
}

TEST_CASE("promise 3: calls settle before the next step or attempt") {
  CHECK(broken(moved(full_log(), 17, 20)) == 3);
  CHECK(broken(without<events::tool_result>(full_log())) == 3);
  CHECK(broken(event_log_builder{}
                   .start()
                   .step()
                   .call("a")
                   .restart()
                   .result("a")
                   .answer("")
                   .finish()) == 3);
  CHECK(broken(event_log_builder{}
                   .start()
                   .step()
                   .ask("a")
                   .step()
                   .decide("a")
                   .call("a", "write")
                   .result("a")
                   .answer("")
                   .finish()) == 3);
}

TEST_CASE("promise 3: attempts of a step are counted") {
  CHECK(broken(twice<events::step_restarted>(full_log())) == 3);
  for (std::uint32_t attempt : {0u, 1u, 3u}) {
    CHECK(broken(changed(full_log(), [&](auto& log) {
            get<events::step_restarted>(log).attempt = attempt;
          })) == 3);
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
          })) == 4);
    CHECK(broken(event_log_builder{}.start().finish(status)) == 4);
    CHECK(broken(event_log_builder{}.start().step().fail().answer("").finish(
              status)) == 4);
  }
  CHECK(broken(event_log_builder{}.start().step().fail().finish()) == 4);
  CHECK(broken(event_log_builder{}.start().step().fail().answer("").finish()) ==
        4);
}

TEST_CASE("promise 4: no step begins after the answer or an error") {
  CHECK(broken(event_log_builder{}.start().step().fail().step().finish(
            events::run_status::failed)) == 4);
  CHECK(broken(
            event_log_builder{}.start().step().answer("").restart().finish()) ==
        4);
}

TEST_CASE("promise 4: the text of the last step is the answer") {
  CHECK(broken(without<events::llm_token>(full_log(), 2)) == 4);
  CHECK(broken(twice<events::llm_token>(full_log(), 3)) == 4);
  CHECK(broken(moved(full_log(), 21, 22)) == 4);
  CHECK(broken(changed(full_log(), [](auto& log) {
          get<events::final_answer>(log).content = "All done";
        })) == 4);
  // Withdrawn text is no part of it, other text of the attempt is.
  auto log = event_log_builder{}
                 .start()
                 .step()
                 .text("old")
                 .restart()
                 .text("new")
                 .answer()
                 .finish();
  CHECK(broken(log) == 0);
  get<events::final_answer>(log).content = "oldnew";
  CHECK(broken(log) == 4);
}

TEST_CASE("promise 4: the counts are those of the log") {
  CHECK(broken(changed(full_log(), [](auto& log) {
          ++get<events::final_answer>(log).steps;
        })) == 4);
  CHECK(broken(changed(full_log(), [](auto& log) {
          ++get<events::final_answer>(log).tools;
        })) == 4);
  CHECK(broken(changed(full_log(), [](auto& log) {
          --get<events::run_finished>(log).steps;
        })) == 4);
  CHECK(broken(changed(full_log(), [](auto& log) {
          --get<events::run_finished>(log).tool_calls;
        })) == 4);
}
