// SPDX-License-Identifier: MIT
// The life of one call as a table: every state × every event × every effect,
// crashes included. A cell is what the queue asks for (see `letters`); after
// each cell the call is run to its end, under the eyes of `dispatch_watch`.
#include <array>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "actors/core/dispatch_queue.hpp"
#include "tests/core/dispatch_watch.hpp"
#include "tests/support/catch.hpp"

namespace core = riffle::core;
using namespace riffle;
using namespace std::chrono_literals;
using riffle::testing::dispatch_watch;
using riffle::testing::letters;

namespace {

const call_id subject{"subject"};
const call_id blocker{"blocker"};

enum class kind : std::uint8_t { read, write, repeat, control };

enum class state : std::uint8_t {
  told,     ///< known, the turn still streams
  behind,   ///< waits for an earlier call
  no_slot,  ///< waits for one of the run's slots
  approving,
  committing,
  queued,
  running,
  stopping,     ///< asked to stop, no answer yet
  withdrawing,  ///< cancelled while it waits for a decision
  backoff,
  settled,
  abandoned,  ///< settled while its work goes on
};

constexpr std::array state_names{"told",      "behind",     "no_slot",
                                 "approving", "committing", "queued",
                                 "running",   "stopping",   "withdrawing",
                                 "backoff",   "settled",    "abandoned"};

constexpr std::array event_names{"gate",    "unsafe", "yes",  "no",    "intent",
                                 "started", "result", "lost", "late",  "spoil",
                                 "cancel",  "drain",  "time", "crash", "lose"};

tool_call make_call(const call_id& id, kind what) {
  tool_call x;
  x.id = id;
  x.tool = "tool_" + id.value;
  x.eff = what == kind::read ? effect::read_only : effect::mutating;
  x.idempotent = what == kind::repeat;
  x.control = what == kind::control;
  x.keys = {"a"};
  x.limits.timeout = 10s;
  x.limits.queue_timeout = 60s;
  x.limits.attempts = 2;
  return x;
}

/// One subject in a state of its life, and the world around it.
struct bench {
  bench(kind of, state wanted) : what{of} {
    core::dispatch_limits limits;
    limits.max_in_flight = wanted == state::no_slot ? 1 : 4;
    queue = core::dispatch_queue{limits};
    watch = dispatch_watch{limits.max_in_flight};
    call = make_call(subject, what);
    call.needs_approval =
        wanted == state::approving || wanted == state::withdrawing;
    lead_to(wanted);
  }

  void take(core::dispatch_effects effects) {
    watch.take(effects);
    for (const auto& x : effects) {
      if (const auto* settled = std::get_if<core::settle_call>(&x))
        ++settlements[settled->call.id];
      if (const auto* begun = std::get_if<core::begin_call>(&x))
        announced[begun->call.id] += begun->announce ? 1 : 0;
      if (const auto* work = std::get_if<core::start_work>(&x))
        started[work->call.id] = work->attempt;
    }
    last = std::move(effects);
  }

  void add(const tool_call& x) {
    watch.call(x);
    take(queue.on_call(x, now));
  }
  void gate(bool safe) {
    watch.gate(safe);
    take(queue.on_gate(safe, now));
  }
  void decide(const call_id& id, bool yes) {
    watch.decided(id, yes);
    take(queue.on_decision(id, yes, "because", now));
  }
  void commit(const call_id& id) {
    const auto attempt = watch.of(id).attempt;
    watch.committed(id, attempt);
    take(queue.on_intent_committed(id, attempt, now));
  }
  void answer(const call_id& id) {
    const auto attempt = watch.of(id).attempt;
    watch.ended(id, attempt);
    call_result result;
    result.output = "done";
    take(queue.on_result(id, attempt, result, 0, now));
  }
  void lose(const call_id& id) {
    const auto attempt = watch.of(id).attempt;
    watch.ended(id, attempt);
    take(queue.on_worker_lost(id, attempt, "segfault", now));
  }
  void pass_time() {
    const auto due = queue.due();
    if (!due) return;
    now = std::max(now, *due);
    take(queue.tick(now));
  }

  void lead_to(state wanted);
  std::string act(std::size_t event);
  void crash(bool message_committed);
  void run_to_the_end();
  void step(const call_id& id);

  kind what;
  core::dispatch_queue queue;
  dispatch_watch watch;
  tool_call call;
  time_point now = time_point{} + 1000s;
  core::dispatch_effects last;
  std::map<call_id, int> settlements;
  std::map<call_id, int> announced;
  std::map<call_id, std::uint32_t> started;
  bool gated = false;
  bool with_blocker = false;
};

void bench::lead_to(state wanted) {
  with_blocker = wanted == state::behind || wanted == state::no_slot;
  if (wanted == state::behind) {
    auto other =
        make_call(blocker, what == kind::control ? kind::read : kind::write);
    other.needs_approval = true;
    add(other);
  }
  if (wanted == state::no_slot) {
    auto other = make_call(blocker, kind::read);
    other.keys = {"elsewhere"};
    add(other);
  }
  add(call);
  if (wanted == state::told) return;
  gate(true);
  gated = true;
  if (wanted == state::behind || wanted == state::no_slot ||
      wanted == state::approving)
    return;
  if (wanted == state::withdrawing) {
    take(queue.on_cancel(subject, now));
    return;
  }
  if (wanted == state::committing) return;
  if (what == kind::write || what == kind::repeat) commit(subject);
  if (wanted == state::queued) return;
  take(queue.on_started(subject, watch.of(subject).attempt, now));
  if (wanted == state::running) return;
  if (wanted == state::backoff) return lose(subject);
  if (wanted == state::settled) return answer(subject);
  take(queue.on_cancel(subject, now));
  if (wanted == state::abandoned) pass_time();
}

/// What the records would tell the next process, and what it does with it.
void bench::crash(bool message_committed) {
  const auto before = watch;
  core::dispatch_limits limits;
  queue = core::dispatch_queue{limits};
  watch = dispatch_watch{limits.max_in_flight};
  std::vector<core::restored_call> open;
  for (const auto& id : {blocker, subject}) {
    if (id == blocker && !with_blocker) continue;
    const auto& x = before.of(id);
    if (x.settled) continue;
    const bool mutates = x.call.eff == effect::mutating && !x.call.control;
    core::restored_call r;
    r.call = x.call;
    r.announced = x.announced && (x.acked || !mutates);
    r.begun = r.announced;
    announced[id] = r.announced ? 1 : 0;  // what was not stored never was
    r.attempt = r.announced ? x.attempt : 0;
    watch.restored(r);
    open.push_back(std::move(r));
  }
  last.clear();
  if (open.empty()) return;
  queue.restore(std::move(open), {});
  if (message_committed)
    gate(true);
  else
    take(queue.on_drain(core::drain_reason::interrupted, now));
}

std::string bench::act(std::size_t event) {
  const auto late = queue.late();
  const auto attempt = watch.of(subject).attempt;
  last.clear();
  switch (event) {
    case 0: gate(true); break;
    case 1: gate(false); break;
    case 2: decide(subject, true); break;
    case 3: decide(subject, false); break;
    case 4: commit(subject); break;
    case 5: take(queue.on_started(subject, attempt, now)); break;
    case 6: answer(subject); break;
    case 7: lose(subject); break;
    case 8:  // an answer of an attempt that is long over
      take(queue.on_result(subject, attempt + 7, {}, 0, now));
      break;
    case 9:
      take(queue.on_malformed(
          subject, {errc::invalid_arguments, "parser", "more text came"}, now));
      break;
    case 10: take(queue.on_cancel(subject, now)); break;
    case 11: take(queue.on_drain(core::drain_reason::cancelled, now)); break;
    case 12: pass_time(); break;
    case 13: crash(true); return letters(last, subject);
    default: crash(false); return letters(last, subject);
  }
  const auto text = letters(last, subject);
  return queue.late() == late ? text : text + "L";
}

void bench::step(const call_id& id) {
  const auto& x = watch.of(id);
  if (x.asked) return decide(id, true);
  if (!x.working) return;
  const bool mutates = x.call.eff == effect::mutating && !x.call.control;
  if (mutates && !x.acked) return commit(id);
  answer(id);
}

void bench::run_to_the_end() {
  if (queue.open() > 0 && !gated) gate(true);
  for (int i = 0; i < 20 && queue.open() > 0; ++i) {
    for (const auto& id : watch.open())
      if (!watch.of(id).settled) step(id);
    if (queue.open() > 0) pass_time();
  }
}

/// States in which a call of this kind can be.
bool possible(kind what, state at) {
  switch (at) {
    case state::no_slot:
    case state::approving:
    case state::withdrawing:
    case state::queued:
    case state::stopping:
    case state::abandoned: return what != kind::control;
    case state::committing: return what == kind::write || what == kind::repeat;
    case state::backoff: return what == kind::read || what == kind::repeat;
    default: return true;
  }
}

/// What cannot happen: a turn ends once, and a call whose intent is on its
/// way to the journal has nobody yet who could answer for it.
bool absurd(state at, std::string_view event) {
  if (event == "gate" || event == "unsafe") return at != state::told;
  return at == state::committing && (event == "result" || event == "lost");
}

/// Runs all cells of a kind and writes down what the queue asked for.
std::string table_of(kind what) {
  std::ostringstream out;
  for (std::size_t s = 0; s < state_names.size(); ++s) {
    const auto at = static_cast<state>(s);
    if (!possible(what, at)) continue;
    out << state_names[s];
    for (std::size_t e = 0; e < event_names.size(); ++e) {
      CAPTURE(state_names[s], event_names[e]);
      bench x{what, at};
      const auto cell = absurd(at, event_names[e]) ? "-" : x.act(e);
      out << ' ' << (cell.empty() ? "." : cell);
      x.run_to_the_end();
      REQUIRE(x.queue.open() == 0);
      REQUIRE(x.settlements[subject] == 1);
      REQUIRE(x.announced[subject] <= 1);
    }
    out << '\n';
  }
  return out.str();
}

/// Cells are separated by any blanks.
void check_table(kind what, const std::string& expected) {
  std::istringstream actual{table_of(what)};
  std::istringstream wanted{expected};
  for (std::string row, cell; actual >> row;) {
    REQUIRE(wanted >> cell);
    REQUIRE(cell == row);
    for (const std::string event : event_names) {
      std::string got;
      REQUIRE(actual >> got);
      REQUIRE(wanted >> cell);
      CAPTURE(row, event);
      CHECK(got == cell);
    }
  }
  std::string rest;
  CHECK_FALSE(wanted >> rest);
}

// Columns: gate unsafe yes no intent started result lost late spoil cancel
// drain time crash (the message was committed) lose (it was not).

}  // namespace

TEST_CASE("a mutating call, in every state, at every event") {
  check_table(kind::write, R"(
  told        c   /   L   L   L   .   L   L   L   !   C   CD  .   c   ID
  behind      -   -   L   L   L   .   L   L   L   !   C   C   .   .   ID
  no_slot     -   -   L   L   L   .   L   L   L   !   C   C   T   c   ID
  approving   -   -   c   0   L   .   L   L   L   v   v   v   .   a   ID
  committing  -   -   L   L   w   .   -   -   L   !   C   CD  .   c   ID
  queued      -   -   L   L   L   .   +   I   L   x   x   x   x   I   ID
  running     -   -   L   L   L   .   +   I   L   x   x   x   x   I   ID
  stopping    -   -   L   L   L   .   C   C   L   .   .   .   C   I   ID
  withdrawing -   -   C   C   L   .   L   L   L   .   .   .   C   a   ID
  settled     -   -   L   L   L   L   L   L   L   .   .   D   .   .   .
  abandoned   -   -   L   L   L   L   L   L   L   .   .   D   .   .   .
)");
}

TEST_CASE("an idempotent mutating call, in every state, at every event") {
  check_table(kind::repeat, R"(
  told        c   /   L   L   L   .   L   L   L   !   C   CD  .   c   ID
  behind      -   -   L   L   L   .   L   L   L   !   C   C   .   .   ID
  no_slot     -   -   L   L   L   .   L   L   L   !   C   C   T   c   ID
  approving   -   -   c   0   L   .   L   L   L   v   v   v   .   a   ID
  committing  -   -   L   L   w   .   -   -   L   !   C   CD  .   c   ID
  queued      -   -   L   L   L   .   +   r   L   x   x   x   x   c   ID
  running     -   -   L   L   L   .   +   r   L   x   x   x   x   c   ID
  stopping    -   -   L   L   L   .   C   C   L   .   .   .   C   c   ID
  withdrawing -   -   C   C   L   .   L   L   L   .   .   .   C   a   ID
  backoff     -   -   L   L   L   .   L   L   L   !   C   CD  c   c   ID
  settled     -   -   L   L   L   L   L   L   L   .   .   D   .   .   .
  abandoned   -   -   L   L   L   L   L   L   L   .   .   D   .   .   .
)");
}

TEST_CASE("a read-only call, in every state, at every event") {
  check_table(kind::read, R"(
  told        .   .   L   L   L   .   +   r   L   x   x   x   x   bw  ID
  behind      -   -   L   L   L   .   L   L   L   !   C   C   .   .   ID
  no_slot     -   -   L   L   L   .   L   L   L   !   C   C   T   bw  ID
  approving   -   -   bw  0   L   .   L   L   L   v   v   v   .   a   ID
  queued      -   -   L   L   L   .   +   r   L   x   x   x   x   bw  ID
  running     -   -   L   L   L   .   +   r   L   x   x   x   x   bw  ID
  stopping    -   -   L   L   L   .   C   C   L   .   .   .   C   bw  ID
  withdrawing -   -   C   C   L   .   L   L   L   .   .   .   C   a   ID
  backoff     -   -   L   L   L   .   L   L   L   !   C   CD  bw  bw  ID
  settled     -   -   L   L   L   L   L   L   L   .   .   D   .   .   .
  abandoned   -   -   L   L   L   L   L   L   L   .   .   D   .   .   .
)");
}

TEST_CASE("a control call, in every state, at every event") {
  check_table(kind::control, R"(
  told        bk  /   L   L   L   .   L   L   L   !   C   CD  .   bk  ID
  behind      -   -   L   L   L   .   L   L   L   !   C   C   .   .   ID
  running     -   -   L   L   L   .   +   I   L   !   C   CD  .   bk  ID
  settled     -   -   L   L   L   L   L   L   L   .   .   D   .   .   .
)");
}
