// SPDX-License-Identifier: MIT
// Runs in any order of events: nothing is owned that nobody works on, nobody
// works on a run twice, and who asks is answered once.
#include <random>

#include "actors/core/run_table.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace riffle::core;
using namespace std::chrono_literals;

namespace {

const error no_room{errc::storage_unavailable, "append", "no room"};
const error corrupt{errc::storage_corrupt, "append", "a gap"};

/// What the table cannot see.
struct world {
  explicit world(unsigned seed) : random{seed} {}

  struct run {
    bool exists = false;  ///< the journal has it
    bool over = false;
    bool owned = false;
    bool acts = false;   ///< its actors live
    bool works = false;  ///< its tools do
    bool ending = false;
    int waiting = 0;  ///< who asked and was not answered
    std::vector<ask_store> questions;
    std::vector<end_work> clearing;
  };

  std::mt19937 random;
  run_table table{{.max_runs = 3, .intensity = 2, .period = 5s}};
  std::map<run_id, run> runs;
  time_point now{};
  int closed = 0;

  bool chance(int percent) {
    return std::uniform_int_distribution{1, 100}(random) <= percent;
  }

  void apply(const run_effects& effects) {
    for (const auto& x : effects)
      std::visit([this](const auto& e) { act(e); }, x);
  }
  void act(const ask_store& x) {
    auto& r = runs[x.run];
    REQUIRE(r.questions.empty());  // one at a time
    REQUIRE_FALSE(r.acts);
    r.questions.push_back(x);
  }
  void act(const disown_run& x) {
    auto& r = runs[x.run];
    REQUIRE_FALSE(r.acts);
    REQUIRE_FALSE(r.works);
    r.owned = false;
  }
  void act(const begin_run& x) {
    auto& r = runs[x.run];
    REQUIRE(r.owned);
    REQUIRE_FALSE(r.acts);
    r.acts = true;
    r.ending = false;
    r.works = chance(50);
  }
  void act(const answer_asker& x) {
    REQUIRE(runs[x.run].waiting == 1);
    runs[x.run].waiting = 0;
  }
  void act(const tell_end& x) { REQUIRE(runs[x.run].acts); }
  void act(const stop_actors& x) { REQUIRE(runs[x.run].acts); }
  void act(const end_work& x) {
    REQUIRE_FALSE(runs[x.run].acts);
    runs[x.run].clearing.push_back(x);
  }
  void act(const all_runs_ended&) {
    ++closed;
    for (const auto& [id, r] : runs) REQUIRE_FALSE(r.acts);
  }
  template <class Other>
  void act(const Other&) {}

  void answer(const run_id& id, run& r) {
    if (r.questions.empty()) return;
    const auto asked = r.questions.front();
    r.questions.clear();
    const bool adopts = !asked.fresh;
    if (adopts && r.over) {
      apply(table.on_refused(id, asked.ticket,
                             {errc::invalid_request, "adopt", "over"}));
    } else if (chance(30)) {
      apply(table.on_refused(id, asked.ticket, chance(50) ? no_room : corrupt));
    } else {
      r.exists = r.owned = true;
      apply(table.on_opened(id, asked.ticket, now));
    }
  }
  void end_works(const run_id& id, run& r) {
    r.works = false;
    for (const auto& x : std::exchange(r.clearing, {}))
      apply(table.on_work_ended(id, x.ticket));
  }
  void fall(const run_id& id, run& r) {
    if (!r.acts) return;
    r.acts = false;
    if (r.ending) {
      r.over = true;
      r.works = r.owned = false;
    }
    apply(table.on_all_down(id, "it fell", now));
    if (!r.works) end_works(id, r);
  }
  void ask(const run_id& id, run& r) {
    asked_run x{id, !r.exists};
    if (chance(20)) x.end = end_request{no_room};
    if (table.find_refusal(x)) return;
    if (x.fresh && !r.questions.empty()) FAIL("asked twice");
    r.waiting = 1;
    apply(table.on_asked(x));
  }

  void step() {
    now += 1s;
    const run_id id{"run_" + std::to_string(random() % 4)};
    auto& r = runs[id];
    switch (random() % 11) {
      case 0:
      case 1: ask(id, r); break;
      case 2:
      case 3: answer(id, r); break;
      case 4:
        if (!r.questions.empty())
          apply(table.on_deadline(id, r.questions[0].ticket));
        break;
      case 5:
        if (!r.clearing.empty())
          apply(table.on_deadline(id, r.clearing[0].ticket));
        break;
      case 6:
        apply(table.on_withdrawn(id));
        r.waiting = 0;
        break;
      case 7: apply(table.on_cancel(id, {no_room})); break;
      case 8:
        if (r.acts && chance(50)) {
          r.ending = true;
          table.on_ending(id);
        } else if (r.acts) {
          apply(table.on_broken(id, chance(50) ? no_room : corrupt));
        }
        break;
      case 9: fall(id, r); break;
      default: chance(50) ? apply(table.on_probe()) : end_works(id, r);
    }
  }

  /// What is asked is answered, what works ends; nothing else happens.
  void come_to_rest() {
    for (int i = 0; i < 40; ++i)
      for (auto& [id, r] : runs) {
        answer(id, r);
        end_works(id, r);
      }
  }
};

}  // namespace

TEST_CASE("in any order of events no run is owned that nobody works on") {
  const auto seed = fresh_seed();
  INFO("seed " << seed);
  for (unsigned n = 0; n < 400; ++n) {
    CAPTURE(n);
    world w{seed + n};
    for (int i = 0; i < 200; ++i) w.step();
    w.come_to_rest();
    for (auto& [id, r] : w.runs) {
      CAPTURE(id.value);
      CHECK(r.waiting == 0);
      CHECK(w.table.runs(id) == r.acts);
      // It is this process's: its actors live, or it is suspended and is
      // asked for again.
      if (r.owned) CHECK((r.acts || w.table.why_still(id)));
      if (w.table.why_still(id) && !r.acts)
        CHECK(w.table.why_still(id)->code == errc::storage_unavailable);
    }
    w.apply(w.table.on_shut_down());
    for (int i = 0; i < 10; ++i) {
      for (auto& [id, r] : w.runs) {
        if (!r.acts) continue;
        r.ending = true;
        w.table.on_ending(id);
        w.fall(id, r);
      }
      w.come_to_rest();
    }
    CHECK(w.closed >= 1);
    CHECK(w.table.busy() == 0);
  }
}
