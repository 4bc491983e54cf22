// SPDX-License-Identifier: MIT
#include "actors/core/run_table.hpp"

#include "tests/core/t0.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using riffle::testing::t0;
using namespace riffle::core;
using namespace std::chrono_literals;

namespace {

const run_id r1{"run_1"};
const run_id r2{"run_2"};
const error no_room{errc::storage_unavailable, "append", "no room"};
const error corrupt{errc::storage_corrupt, "append", "a gap"};
const end_request enough{{errc::cancelled, "run", "enough"}};

asked_run starts(const run_id& id) { return {id}; }
asked_run resumes(const run_id& id) { return {id, false}; }

template <class Effect>
std::vector<Effect> all(const run_effects& effects) {
  std::vector<Effect> out;
  for (const auto& x : effects)
    if (const auto* found = std::get_if<Effect>(&x)) out.push_back(*found);
  return out;
}

/// All but the notes.
run_effects deeds(run_effects effects) {
  std::erase_if(effects, [](const auto& x) {
    return std::holds_alternative<note_run>(x);
  });
  return effects;
}

run_ticket ticket_of(const run_effects& effects) {
  const auto asked = all<ask_store>(effects);
  REQUIRE(asked.size() == 1);
  return asked[0].ticket;
}

/// A table with one run whose actors live.
struct running {
  explicit running(asked_run how = starts(r1), run_table_limits limits = {})
      : table{limits} {
    const auto asked = table.on_asked(std::move(how));
    table.on_opened(r1, ticket_of(asked), t0);
    REQUIRE(table.runs(r1));
  }
  run_table table;

  /// Its actors and its work are gone; what follows.
  run_effects fall(const std::string& why = "it threw") {
    const auto work = all<end_work>(table.on_all_down(r1, why, t0));
    REQUIRE(work.size() == 1);
    return deeds(table.on_work_ended(r1, work[0].ticket));
  }
  void stand_still() {
    table.on_broken(r1, no_room);
    CHECK(fall().at(0) == run_effect{probe_later{500ms}});
  }
};

errc refusal(const run_table& table, const asked_run& x) {
  const auto why = table.find_refusal(x);
  REQUIRE(why);
  return why->code;
}

}  // namespace

TEST_CASE("a run is opened, runs and ends") {
  run_table table;
  REQUIRE_FALSE(table.find_refusal(starts(r1)));
  const auto asked = table.on_asked(starts(r1));
  CHECK(asked == run_effects{ask_store{r1, 1, true}});
  CHECK(table.on_opened(r1, 1, t0) ==
        run_effects{begin_run{r1, true, {}, {}}, answer_asker{r1, {}}});
  CHECK(table.runs(r1));
  table.on_ending(r1);
  CHECK(table.on_all_down(r1, "", t0) ==
        run_effects{close_readers{r1, {}}, forget_run{r1}});
  CHECK_FALSE(table.owns_any());
}

TEST_CASE("who asks for a run that is opened is told that it is busy") {
  run_table table;
  const auto ticket = ticket_of(table.on_asked(resumes(r1)));
  CHECK(refusal(table, resumes(r1)) == errc::session_busy);
  CHECK_FALSE(table.find_refusal(resumes(r2)));
  table.on_opened(r1, ticket, t0);
  CHECK(refusal(table, resumes(r1)) == errc::session_busy);
}

TEST_CASE("a run that is refused is not known any more") {
  run_table table;
  const auto ticket = ticket_of(table.on_asked(resumes(r1)));
  CHECK(table.on_refused(r1, ticket, corrupt) ==
        run_effects{answer_asker{r1, corrupt}, forget_run{r1}});
  CHECK_FALSE(table.find_refusal(resumes(r1)));
}

TEST_CASE("a cancel before the run has begun ends it when it begins") {
  run_table table;
  const auto ticket = ticket_of(table.on_asked(starts(r1)));
  CHECK(table.on_cancel(r1, enough).empty());
  CHECK(all<begin_run>(table.on_opened(r1, ticket, t0)).at(0).end == enough);
}

TEST_CASE("what is started only to end says so to its actors, and counts") {
  run_table table{{.max_runs = 1}};
  auto ends = starts(r1);
  ends.end = enough;
  REQUIRE_FALSE(table.find_refusal(ends));
  const auto ticket = ticket_of(table.on_asked(ends));
  CHECK(all<begin_run>(table.on_opened(r1, ticket, t0)).at(0).end == enough);
  ends.run = r2;
  CHECK(refusal(table, ends) == errc::budget_exceeded);
  ends.fresh = false;  // one that is adopted to be ended never waits
  CHECK_FALSE(table.find_refusal(ends));
}

TEST_CASE("an adoption that comes too late is disowned") {
  const bool withdrawn = GENERATE(false, true);
  run_table table;
  const auto ticket = ticket_of(table.on_asked(resumes(r1)));
  if (withdrawn) {
    CHECK(deeds(table.on_withdrawn(r1)).empty());
  } else {
    const auto told = all<answer_asker>(table.on_deadline(r1, ticket));
    REQUIRE(told.size() == 1);
    CHECK(told[0].failure->code == errc::storage_unavailable);
  }
  CHECK(refusal(table, resumes(r1)) == errc::session_busy);
  CHECK(table.busy() == 0);
  const auto late = table.on_opened(r1, ticket, t0);
  CHECK(deeds(late) == run_effects{forget_run{r1}, disown_run{r1}});
  CHECK(all<note_run>(late).size() == 1);
  CHECK_FALSE(table.find_refusal(resumes(r1)));
}

TEST_CASE("a start that comes too late, or was to end the run, ends it") {
  const bool fresh = GENERATE(false, true);
  run_table table;
  const auto ticket =
      ticket_of(table.on_asked(fresh ? starts(r1) : resumes(r1)));
  table.on_deadline(r1, ticket);
  if (!fresh) table.on_cancel(r1, enough);
  const auto begun = all<begin_run>(table.on_opened(r1, ticket, t0));
  REQUIRE(begun.size() == 1);
  CHECK(begun[0].fresh == fresh);
  REQUIRE(begun[0].end);
  CHECK(begun[0].end->cancelled);
}

TEST_CASE("a late answer while the runtime closes is disowned") {
  run_table table;
  const auto ticket = ticket_of(table.on_asked(starts(r1)));
  table.on_deadline(r1, ticket);
  CHECK(table.on_shut_down() == run_effects{all_runs_ended{}});
  CHECK(deeds(table.on_opened(r1, ticket, t0)) ==
        run_effects{forget_run{r1}, disown_run{r1}});
}

TEST_CASE("a late refusal leaves nothing") {
  run_table table;
  const auto ticket = ticket_of(table.on_asked(starts(r1)));
  table.on_deadline(r1, ticket);
  CHECK(deeds(table.on_refused(r1, ticket, corrupt)) ==
        run_effects{forget_run{r1}});
}

TEST_CASE("who goes away while the run runs ends it, or leaves it to others") {
  running started;
  CHECK(all<tell_end>(started.table.on_withdrawn(r1)).size() == 1);
  running resumed{resumes(r1)};
  CHECK(deeds(resumed.table.on_withdrawn(r1)) == run_effects{stop_actors{r1}});
  CHECK(resumed.fall() == run_effects{forget_run{r1}, disown_run{r1}});
}

TEST_CASE("more runs than allowed are refused, started or resumed") {
  running one{starts(r1), {.max_runs = 1}};
  CHECK(refusal(one.table, starts(r2)) == errc::budget_exceeded);
  CHECK(refusal(one.table, resumes(r2)) == errc::budget_exceeded);
  auto to_end = resumes(r2);
  to_end.end = enough;
  CHECK_FALSE(one.table.find_refusal(to_end));
}

TEST_CASE("a runtime that closes says so, and waits for its runs") {
  running one;
  const auto told = one.table.on_shut_down();
  CHECK(all<tell_end>(told).size() == 1);
  CHECK(all<all_runs_ended>(told).empty());
  CHECK(refusal(one.table, starts(r2)) == errc::cancelled);
  CHECK(refusal(one.table, resumes(r1)) == errc::cancelled);
  one.table.on_ending(r1);
  CHECK(all<all_runs_ended>(one.table.on_all_down(r1, "", t0)).size() == 1);
}

TEST_CASE("what a person approved gets a moment before it is ended") {
  running one{{r1, true, true}};
  CHECK(one.table.on_shut_down() == run_effects{end_soon{r1}});
}

TEST_CASE("a run whose actors fail starts again once its work has ended") {
  running one;
  const auto down = one.table.on_all_down(r1, "it threw", t0);
  CHECK(deeds(down) == run_effects{end_work{r1, 2}});
  CHECK(all<note_run>(down).size() == 1);
  CHECK(one.table.on_work_ended(r1, 1).empty());  // of another time
  CHECK(one.table.on_work_ended(r1, 2) == run_effects{ask_store{r1, 3, false}});
  CHECK(one.table.on_opened(r1, 3, t0) ==
        run_effects{begin_run{r1, false, {}, {}}});
}

TEST_CASE("work that does not end in time is noted, and the run goes on") {
  running one;
  const auto work = all<end_work>(one.table.on_all_down(r1, "x", t0)).at(0);
  const auto out = one.table.on_deadline(r1, work.ticket);
  CHECK(all<note_run>(out).size() == 1);
  CHECK(all<ask_store>(out).size() == 1);
}

TEST_CASE("a run is not let go of while its work goes on") {
  running one;
  one.table.on_broken(r1, corrupt);
  const auto down = one.table.on_all_down(r1, "", t0);
  CHECK(all<close_readers>(down).at(0).why == corrupt);
  const auto ticket = all<end_work>(down).at(0).ticket;
  CHECK(deeds(one.table.on_deadline(r1, ticket)).empty());
  CHECK(refusal(one.table, resumes(r1)) == errc::session_busy);
  CHECK(one.table.busy() == 0);
  CHECK(one.table.on_work_ended(r1, ticket) ==
        run_effects{forget_run{r1}, disown_run{r1}});
}

TEST_CASE("a run that fails too often is ended, then given up") {
  running one{starts(r1), {.intensity = 1}};
  const auto again = [&](const run_effects& fallen) {
    return all<begin_run>(one.table.on_opened(r1, ticket_of(fallen), t0)).at(0);
  };
  CHECK_FALSE(again(one.fall()).end);
  CHECK(again(one.fall()).end->why.code == errc::internal);
  CHECK(one.fall() == run_effects{forget_run{r1}, disown_run{r1}});
}

TEST_CASE("a run that had ended before its actors failed is over") {
  running one;
  const auto ticket = ticket_of(one.fall());
  const error over{errc::invalid_request, "adopt_run", "it has finished"};
  CHECK(one.table.on_refused(r1, ticket, over) ==
        run_effects{close_readers{r1, {}}, forget_run{r1}});
}

TEST_CASE("a run that cannot be adopted again is let go of") {
  running one;
  const auto ticket = ticket_of(one.fall());
  CHECK(
      deeds(one.table.on_refused(r1, ticket, corrupt)) ==
      run_effects{close_readers{r1, corrupt}, forget_run{r1}, disown_run{r1}});
}

TEST_CASE("a restart that the store does not answer goes on when it does") {
  running one;
  const auto ticket = ticket_of(one.fall());
  const auto out = one.table.on_deadline(r1, ticket);
  CHECK(all<close_readers>(out).at(0).why->code == errc::storage_unavailable);
  CHECK(refusal(one.table, resumes(r1)) == errc::session_busy);
  CHECK(deeds(one.table.on_probe()).empty());  // it has been asked
  CHECK(all<begin_run>(one.table.on_opened(r1, ticket, t0)).size() == 1);
}

TEST_CASE("the time limit of a run goes on while it is suspended") {
  auto how = starts(r1);
  how.time_limit = 10s;
  running one{how};
  const auto ticket = ticket_of(one.fall());
  CHECK(
      all<begin_run>(one.table.on_opened(r1, ticket, t0 + 4s)).at(0).deadline ==
      t0 + 10s);
}

TEST_CASE("a run that is suspended is asked for less and less often") {
  running one;
  one.stand_still();
  duration pause = 500ms;
  for (int i = 0; i < 8; ++i) {
    const auto ticket = ticket_of(one.table.on_probe());
    pause = std::min<duration>(2 * pause, 15s);
    CHECK(one.table.on_refused(r1, ticket, no_room) ==
          run_effects{probe_later{pause}});
  }
  CHECK(one.table.why_still(r1) == no_room);
  const auto ticket = ticket_of(one.table.on_probe());
  CHECK(deeds(one.table.on_opened(r1, ticket, t0)) ==
        run_effects{begin_run{r1, false, {}, {}}});
  CHECK_FALSE(one.table.why_still(r1));
}

TEST_CASE("a run that is suspended can be resumed, once") {
  running one;
  one.stand_still();
  const auto first = ticket_of(one.table.on_asked(resumes(r1)));
  CHECK(refusal(one.table, resumes(r1)) == errc::session_busy);
  const auto no = one.table.on_refused(r1, first, no_room);
  CHECK(all<answer_asker>(no).at(0).failure == no_room);
  CHECK(all<forget_run>(no).empty());
  const auto second = ticket_of(one.table.on_asked(resumes(r1)));
  const auto yes = one.table.on_opened(r1, second, t0);
  CHECK_FALSE(all<answer_asker>(yes).at(0).failure);
  CHECK(one.table.runs(r1));
}

TEST_CASE("a run that is suspended is no reason to wait at the end") {
  running one;
  one.stand_still();
  CHECK(one.table.on_shut_down() == run_effects{all_runs_ended{}});
  CHECK(one.table.on_probe().empty());
}
