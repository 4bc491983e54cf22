// SPDX-License-Identifier: MIT
#include "actors/core/proposal_ledger.hpp"

#include <map>
#include <random>
#include <set>

#include "tests/support/catch.hpp"

using riffle::call_id;
using riffle::proposal_id;
using riffle::wall_time;
using riffle::core::decided_proposal;
using riffle::core::decision_verdict;
using riffle::core::open_proposal;
using riffle::core::proposal_ledger;
using riffle::events::proposal_outcome;

namespace {

const proposal_id p1{"prop_1"};
const proposal_id p2{"prop_2"};
const call_id a{"call_a"};
const call_id b{"call_b"};

open_proposal request(const proposal_id& id, const call_id& call,
                      std::string digest = "d",
                      std::optional<wall_time> expires = {}) {
  return {id, call, std::move(digest), expires};
}

}  // namespace

TEST_CASE("a request waits until it is decided") {
  proposal_ledger x;
  CHECK(x.on_request(request(p1, a)).opened);
  CHECK(x.pending() == std::vector{request(p1, a)});
  const auto answer = x.on_decision(p1, proposal_outcome::approved, "ann",
                                    "fine", "d", "{\"n\":1}");
  CHECK(answer.verdict == decision_verdict::accepted);
  CHECK(answer.holds == decided_proposal{p1, a, "d", proposal_outcome::approved,
                                         "ann", "fine", "{\"n\":1}"});
  CHECK(x.pending().empty());
}

TEST_CASE("the first decision wins, later ones learn of it") {
  proposal_ledger x;
  x.on_request(request(p1, a));
  x.on_decision(p1, proposal_outcome::denied, "ann", "no", "d");
  const auto answer =
      x.on_decision(p1, proposal_outcome::approved, "bob", "", "d");
  CHECK(answer.verdict == decision_verdict::too_late);
  REQUIRE(answer.holds);
  CHECK(answer.holds->by == "ann");
  CHECK(answer.holds->how == proposal_outcome::denied);
}

TEST_CASE("a decision for other arguments than those shown does not hold") {
  proposal_ledger x;
  x.on_request(request(p1, a, "new"));
  CHECK(
      x.on_decision(p1, proposal_outcome::approved, "ann", "", "old").verdict ==
      decision_verdict::stale);
  CHECK(x.pending().size() == 1);
  CHECK(x.on_decision(p1, proposal_outcome::approved, "ann", "", "").verdict ==
        decision_verdict::accepted);
}

TEST_CASE("a decision on an unknown proposal changes nothing") {
  proposal_ledger x;
  CHECK(x.on_decision(p1, proposal_outcome::approved, "ann", "", "d").verdict ==
        decision_verdict::unknown);
  CHECK_FALSE(x.decision_of(a, "d"));
}

TEST_CASE("edited arguments belong to approvals only") {
  proposal_ledger x;
  x.on_request(request(p1, a));
  const auto answer =
      x.on_decision(p1, proposal_outcome::denied, "ann", "", "d", "{\"n\":1}");
  REQUIRE(answer.holds);
  CHECK(answer.holds->arguments.empty());
}

TEST_CASE("an echo of a request changes nothing, even after the decision") {
  proposal_ledger x;
  x.on_request(request(p1, a));
  CHECK_FALSE(x.on_request(request(p1, a)).opened);
  x.on_decision(p1, proposal_outcome::denied, "ann", "", "d");
  CHECK_FALSE(x.on_request(request(p1, a)).opened);
  CHECK(x.pending().empty());
}

TEST_CASE("a newer proposal of the call supersedes the open one") {
  proposal_ledger x;
  x.on_request(request(p1, a, "d1"));
  const auto answer = x.on_request(request(p2, a, "d2"));
  CHECK(answer.opened);
  REQUIRE(answer.superseded);
  CHECK(answer.superseded->id == p1);
  CHECK(answer.superseded->how == proposal_outcome::cancelled);
  CHECK(
      x.on_decision(p1, proposal_outcome::approved, "ann", "", "d1").verdict ==
      decision_verdict::too_late);
  CHECK(x.pending() == std::vector{request(p2, a, "d2")});
}

TEST_CASE("a cancelled call's proposal is decided once") {
  proposal_ledger x;
  x.on_request(request(p1, a));
  const auto decided = x.cancel(a);
  REQUIRE(decided);
  CHECK(decided->how == proposal_outcome::cancelled);
  CHECK_FALSE(x.cancel(a));
  CHECK_FALSE(x.cancel(b));
  CHECK(x.on_decision(p1, proposal_outcome::approved, "ann", "", "d").verdict ==
        decision_verdict::too_late);
}

TEST_CASE("proposals expire in the order of their time, once") {
  proposal_ledger x;
  x.on_request(request(p1, a, "d", wall_time{200}));
  x.on_request(request(p2, b, "d", wall_time{100}));
  x.on_request(request(proposal_id{"prop_3"}, call_id{"call_c"}));
  CHECK(x.next_expiry() == wall_time{100});
  CHECK(x.expired(wall_time{99}).empty());
  const auto all = x.expired(wall_time{200});
  REQUIRE(all.size() == 2);
  CHECK(all[0].id == p2);
  CHECK(all[1].id == p1);
  CHECK(all[1].how == proposal_outcome::expired);
  CHECK(x.expired(wall_time{1000}).empty());
  CHECK_FALSE(x.next_expiry());
  CHECK(x.pending().size() == 1);
}

TEST_CASE("recovery finds the decision that holds for these arguments") {
  proposal_ledger x;
  x.on_request(request(p1, a, "d1"));
  CHECK_FALSE(x.decision_of(a, "d1"));
  x.restore({p1, a, "d1", proposal_outcome::approved, "ann", "", ""});
  REQUIRE(x.decision_of(a, "d1"));
  CHECK(x.decision_of(a, "d1")->by == "ann");
  CHECK_FALSE(x.decision_of(a, "d2"));
  CHECK_FALSE(x.decision_of(b, "d1"));
}

TEST_CASE("a restored decision counts as the first, with or without request") {
  proposal_ledger x;
  x.restore({p1, a, "d", proposal_outcome::denied, "ann", "", ""});
  x.restore({p1, a, "d", proposal_outcome::approved, "bob", "", ""});
  CHECK(x.decision_of(a, "d")->by == "ann");
  CHECK_FALSE(x.on_request(request(p1, a)).opened);
  CHECK(x.on_decision(p1, proposal_outcome::approved, "bob", "", "d").verdict ==
        decision_verdict::too_late);
}

TEST_CASE("a forgotten call leaves nothing behind") {
  proposal_ledger x;
  x.on_request(request(p1, a));
  x.on_request(request(p2, b));
  x.cancel(a);
  x.forget(a);
  CHECK(x.pending() == std::vector{request(p2, b)});
  CHECK(x.on_decision(p1, proposal_outcome::approved, "ann", "", "d").verdict ==
        decision_verdict::unknown);
}

TEST_CASE("every schedule decides each proposal once, also over restarts") {
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random{seed};
    proposal_ledger x;
    std::vector<open_proposal> requests;           // the records
    std::map<proposal_id, decided_proposal> held;  // the first of each
    const auto record = [&](const decided_proposal& d) {
      REQUIRE(held.emplace(d.id, d).second);
    };
    for (int i = 0; i < 60; ++i) {
      const call_id call{"call_" + std::to_string(random() % 4)};
      const auto n = requests.empty() ? 0 : random() % requests.size();
      switch (random() % 5) {
        case 0: {
          auto r = request(proposal_id{"p" + std::to_string(i)}, call, "d",
                           wall_time{static_cast<std::int64_t>(
                               i + static_cast<int>(random() % 20))});
          const auto answer = x.on_request(r);
          REQUIRE(answer.opened);
          requests.push_back(r);
          if (answer.superseded) record(*answer.superseded);
          break;
        }
        case 1:
          if (!requests.empty()) {
            const auto& id = requests[n].id;
            const auto answer =
                x.on_decision(id, proposal_outcome::approved, "ann", "", "d");
            if (answer.verdict == decision_verdict::accepted)
              record(*answer.holds);
            else
              REQUIRE(answer.holds == held.at(id));
          }
          break;
        case 2:
          if (const auto d = x.cancel(call)) record(*d);
          break;
        case 3:
          for (const auto& d : x.expired(wall_time{i})) record(d);
          break;
        default:
          x = {};
          for (const auto& r : requests) {
            // A request is recorded with what it superseded.
            if (held.contains(r.id))
              x.restore(held.at(r.id));
            else
              REQUIRE_FALSE(x.on_request(r).superseded);
          }
      }
      std::set<call_id> open;
      for (const auto& r : x.pending()) {
        REQUIRE(open.insert(r.call).second);
        REQUIRE_FALSE(held.contains(r.id));
      }
      REQUIRE(x.pending().size() + held.size() == requests.size());
    }
  }
}
