// SPDX-License-Identifier: MIT
// Work that goes on when nobody hears from it any more: what it touches stays
// touched, and nothing begins beside it.
#include "actors/process/run_work.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/log_lines.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

void let_pass(actor_fixture& x, duration time) {
  for (duration passed{}; passed < time; passed += 500ms) {
    x.settle();
    x.advance(500ms);
  }
  x.settle();
}

std::vector<json> results(const actor_fixture& x) {
  std::vector<json> out;
  for (auto& e : events_of(x.reader->lines, "tool_result"))
    out.push_back(e.at("data"));
  return out;
}

}  // namespace

TEST_CASE("what outlives its run's actors is settled, and runs alone") {
  actor_fixture x;
  x.begin();
  x.run_blocking = false;
  x.provider->answers = {
      model_calls(0, "redo") + model_stops("tool_calls"),
      model_calls(0, "redo", {{"n", 2}}) + model_stops("tool_calls"),
      model_ends};
  auto spec = x.make_spec();
  spec->faults = [fired = false](const std::string& at) mutable {
    if (at == "dispatcher.cancel_call" && !std::exchange(fired, true))
      throw std::runtime_error{"a fault"};
  };
  const log_lines log{"warn"};
  x.start(spec);
  x.settle();
  REQUIRE(x.blocking->jobs.size() == 1);
  caf::anon_send(x.registry, cancel_call{x.run, call_id{"nobody's"}});
  let_pass(x, 10s);
  CHECK(results(x).empty());  // it is waited for …
  let_pass(x, 15s);
  REQUIRE(results(x).size() == 1);  // … but not for ever
  CHECK(results(x)[0].at("outcome") == "interrupted");
  CHECK(log.with("did not end in time").size() == 1);
  CHECK(x.blocking->jobs.size() ==
        1);  // the second call waits for the first's end
  x.blocking->run_one();
  x.settle();
  CHECK(x.blocking->jobs.size() == 1);
  x.run_blocking = true;
  x.run_out(10s);
  CHECK(x.reader->is_closed);
  CHECK(results(x).size() == 2);
  CHECK(results(x).back().at("outcome") == "ok");
  CHECK(x.redo->acted.size() == 2);
  check_log(x.reader->lines);
}

TEST_CASE("what ends in time, though its actors failed, is tried again") {
  actor_fixture x;
  x.begin();
  x.run_blocking = false;
  x.provider->answers = {model_calls(0, "redo") + model_stops("tool_calls"),
                         model_ends};
  auto spec = x.make_spec();
  spec->faults = [fired = false](const std::string& at) mutable {
    if (at == "dispatcher.cancel_call" && !std::exchange(fired, true))
      throw std::runtime_error{"a fault"};
  };
  x.start(spec);
  x.settle();
  caf::anon_send(x.registry, cancel_call{x.run, call_id{"nobody's"}});
  let_pass(x, 5s);
  x.run_blocking = true;
  x.run_out(10s);
  CHECK(x.redo->acted.size() == 2);
  REQUIRE(results(x).size() == 1);
  CHECK(results(x)[0].at("outcome") == "ok");
  check_log(x.reader->lines);
}

TEST_CASE("a worker that dies without its work lets nothing begin beside it") {
  actor_fixture x;
  x.process_faults = [](const std::string& at) {
    if (at == "tool_worker.stop") throw std::runtime_error{"a fault"};
  };
  x.settings.defaults.attempts = 3;
  x.settings.defaults.timeout = 5s;  // stops it: its worker dies by that
  x.supervision.backoff_base = 1ms;
  x.begin();
  x.run_blocking = false;
  x.provider->answers = {model_calls(0, "redo") +
                             model_calls(1, "redo", {{"n", 2}}) +
                             model_stops("tool_calls"),
                         model_ends};
  x.start(x.make_spec());
  x.settle();
  let_pass(x, 12s);
  REQUIRE(results(x).size() == 1);
  CHECK(results(x)[0].at("outcome") == "timed_out");
  CHECK(x.blocking->jobs.size() == 1);
  x.run_blocking = true;
  x.run_out(10s);
  CHECK(x.reader->is_closed);
  CHECK(results(x).size() == 2);
  CHECK(x.redo->acted.size() == 2);
  check_log(x.reader->lines);
}

TEST_CASE("what waits for a thread never acts once its run began anew") {
  const call_id id{"call_1"};
  std::vector<call_id> told;
  run_work book{[&](const call_id& x, std::uint32_t) { told.push_back(x); }};
  const auto old = book.epoch();
  CHECK_FALSE(book.begin(old, id, 1));  // nobody handed it over
  book.hand_over(old, id, 1);
  book.hand_over(old, {"call_2"}, 1);
  CHECK(book.begin(old, id, 1));
  CHECK_FALSE(book.take_back(old, id, 1));
  book.close();
  CHECK_FALSE(book.begin(old, {"call_2"}, 1));
  book.hand_over(old, {"call_2"}, 1);  // by actors that do not know it yet
  CHECK_FALSE(book.begin(old, {"call_2"}, 1));
  book.hand_over(book.epoch(), {"call_2"}, 1);
  CHECK(book.take_back(book.epoch(), {"call_2"}, 1));
  CHECK_FALSE(book.begin(book.epoch(), {"call_2"}, 1));
  book.hand_over(book.epoch(), {"call_3"}, 1);
  CHECK(book.begin(book.epoch(), {"call_3"}, 1));
  CHECK(book.acting() == call_attempts{{id, 1}, {{"call_3"}, 1}});
  CHECK(book.still_acts(id, 1));
  CHECK_FALSE(book.still_acts(id, 2));
  book.end(id, 1);
  book.end({"call_3"}, 1);  // nobody waits for that
  CHECK(told == std::vector{id});
  CHECK(book.acting().empty());
}
