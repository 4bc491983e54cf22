// SPDX-License-Identifier: MIT
#include "actors/core/proposal_ledger.hpp"

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::core;
using events::proposal_outcome;

namespace {

const proposal_id p1{"prop_1"};
const proposal_id p2{"prop_2"};
const call_id a{"call_a"};
const call_id b{"call_b"};
const call_id c{"call_c"};

/// The only look that may begin.
call_look one_look(proposal_ledger& x) {
  const auto all = x.next_looks();
  REQUIRE(all.size() == 1);
  return all.front();
}

void ask(proposal_ledger& x, const call_id& call, const proposal_id& id) {
  x.on_request(call);
  REQUIRE(x.on_seen(one_look(x)) == look_result::first);
  x.on_asked(call, id);
}

void wait(proposal_ledger& x, const call_id& call, const proposal_id& id) {
  ask(x, call, id);
  REQUIRE(x.on_stored(call) == stored_move::wait);
}

}  // namespace

TEST_CASE("an approval is looked at again before it holds") {
  proposal_ledger x{4};
  wait(x, a, p1);
  CHECK(x.waiting(p1) == a);
  CHECK(x.on_decision(p1, proposal_outcome::approved) ==
        accepted_decision{a, true});
  CHECK_FALSE(x.waiting(p1));
  const auto look = one_look(x);
  CHECK(look.call == a);
  CHECK(x.on_seen(look) == look_result::again);
  CHECK(x.after_look(a, false, true) == look_again::resolve);
  CHECK(x.after_look(a, false, false) == look_again::replace);
  CHECK(x.after_look(a, true, false) == look_again::refuse);
  x.on_end(a);
  CHECK(x.empty());
}

TEST_CASE("a denial holds at once, and a later decision counts for nothing") {
  proposal_ledger x{4};
  wait(x, a, p1);
  CHECK(x.on_decision(p1, proposal_outcome::denied) ==
        accepted_decision{a, false});
  CHECK(x.next_looks().empty());
  CHECK_FALSE(x.on_decision(p1, proposal_outcome::approved));
  CHECK_FALSE(x.on_decision(p2, proposal_outcome::approved));
}

TEST_CASE("a call that ended takes its proposal along") {
  proposal_ledger x{4};
  wait(x, a, p1);
  x.on_end(a);
  CHECK_FALSE(x.waiting(p1));
  CHECK_FALSE(x.on_decision(p1, proposal_outcome::approved));
}

TEST_CASE("what was replaced is decided by its new proposal only") {
  proposal_ledger x{4};
  wait(x, a, p1);
  x.on_decision(p1, proposal_outcome::approved);
  x.on_seen(one_look(x));
  x.on_end(a);
  x.on_asked(a, p2);
  CHECK_FALSE(x.on_decision(p1, proposal_outcome::denied));
  CHECK_FALSE(x.on_decision(p2, proposal_outcome::denied));  // not stored yet
  CHECK(x.on_stored(a) == stored_move::wait);
  CHECK(x.on_decision(p2, proposal_outcome::denied));
}

TEST_CASE("a call that needs no decision any more ends as far as it came") {
  proposal_ledger x{4};
  SECTION("nobody was asked: at once, and its look is for nobody") {
    x.on_request(a);
    const auto look = one_look(x);
    CHECK(x.on_withdrawn(a) == withdrawal::end);
    CHECK(x.on_seen(look) == look_result::late);
    CHECK(x.empty());
  }
  SECTION("its request is on its way: when that is stored") {
    ask(x, a, p1);
    CHECK(x.on_withdrawn(a) == withdrawal::later);
    CHECK(x.on_stored(a) == stored_move::cancel);
    CHECK(x.on_decision(p1, proposal_outcome::approved) ==
          accepted_decision{a, false});  // a person was first
  }
  SECTION("it waits: its proposal is cancelled") {
    wait(x, a, p1);
    CHECK(x.on_withdrawn(a) == withdrawal::cancel);
    CHECK(x.on_decision(p1, proposal_outcome::cancelled) ==
          accepted_decision{a, false});
  }
  SECTION("it is approved: the approval stays, whatever is seen") {
    wait(x, a, p1);
    x.on_decision(p1, proposal_outcome::approved);
    CHECK(x.on_withdrawn(a) == withdrawal::later);
    CHECK(x.on_seen(one_look(x)) == look_result::again);
    CHECK(x.after_look(a, true, false) == look_again::resolve);
  }
  SECTION("its decision is on its way already") {
    CHECK(x.on_withdrawn(a) == withdrawal::none);
  }
}

TEST_CASE("a request from the records waits without a look") {
  proposal_ledger x{4};
  CHECK(x.on_restored(a, p1, false) == stored_move::wait);
  CHECK(x.on_restored(b, p2, true) == stored_move::cancel);
  CHECK(x.next_looks().empty());
  CHECK(x.on_decision(p1, proposal_outcome::approved)->look);
  CHECK_FALSE(x.on_decision(p2, proposal_outcome::approved)->look);
}

TEST_CASE("a call that was approved elsewhere is only looked at again") {
  proposal_ledger x{4};
  x.on_approved(a);
  CHECK(x.on_seen(one_look(x)) == look_result::again);
  x.on_end(a);
  x.on_approved(b);
  CHECK(x.on_withdrawn(b) == withdrawal::end);
}

TEST_CASE("a few looks go on at a time, those of withdrawn calls never begin") {
  proposal_ledger x{1};
  for (const auto& call : {a, b, c}) x.on_request(call);
  const auto first = one_look(x);
  CHECK(first.call == a);
  CHECK(x.next_looks().empty());
  x.on_withdrawn(b);
  // What is withdrawn while it is looked at keeps its place until it is over.
  x.on_withdrawn(a);
  CHECK(x.next_looks().empty());
  CHECK_FALSE(x.awaits(first));
  x.on_seen(first);
  CHECK(one_look(x).call == c);
}

TEST_CASE("the answer of a look that was given up is for nobody") {
  proposal_ledger x{4};
  x.on_request(a);
  const auto old = one_look(x);
  CHECK(x.awaits(old));
  CHECK(x.on_seen(old) == look_result::first);  // given up, the call refused
  x.on_end(a);
  x.on_request(a);
  const auto now = one_look(x);
  CHECK(x.on_seen(old) == look_result::late);
  CHECK(x.awaits(now));
}

TEST_CASE("every schedule ends each call once and each proposal once") {
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random{seed};
    proposal_ledger x{3};
    std::set<call_id> open;                   // not ended
    std::map<call_id, proposal_id> unstored;  // requests on their way
    std::map<proposal_id, call_id> stored;
    std::set<proposal_id> decided;
    std::vector<call_look> looks;
    int ids = 0;
    const auto end = [&](const call_id& call) {
      x.on_end(call);
      REQUIRE(open.erase(call) == 1);
    };
    const auto ask_for = [&](const call_id& call) {
      const proposal_id id{"prop_" + std::to_string(ids++)};
      x.on_asked(call, id);
      REQUIRE(unstored.emplace(call, id).second);
    };
    const auto see = [&](const call_look& look) {
      const auto how = x.on_seen(look);
      if (how == look_result::late) return;
      REQUIRE(open.contains(look.call));
      if (how == look_result::again) {
        const auto next = x.after_look(look.call, false, random() % 3 > 0);
        if (next == look_again::resolve) return end(look.call);
      } else if (random() % 4 == 0) {
        return end(look.call);
      }
      ask_for(look.call);
    };
    const auto decide = [&](const proposal_id& id) {
      const auto how = random() % 2 == 0 ? proposal_outcome::approved
                                         : proposal_outcome::denied;
      const auto first = x.on_decision(id, how);
      REQUIRE(first.has_value() == decided.insert(id).second);
      if (first && !first->look) end(first->call);
    };
    const auto step = [&](bool more) {
      for (const auto& look : x.next_looks()) looks.push_back(look);
      REQUIRE(looks.size() <= 3);
      switch (random() % 5) {
        case 0: {
          const call_id call{"call_" + std::to_string(random() % 12)};
          if (more && open.insert(call).second) x.on_request(call);
          break;
        }
        case 1:
          if (!looks.empty()) {
            std::swap(looks.at(random() % looks.size()), looks.back());
            const auto look = looks.back();
            looks.pop_back();
            see(look);
          }
          break;
        case 2:
          if (!unstored.empty()) {
            const auto [call, id] = *unstored.begin();
            unstored.erase(unstored.begin());
            REQUIRE(x.on_stored(call) != stored_move::none);
            stored.emplace(id, call);
          }
          break;
        case 3:
          if (!stored.empty())
            decide(std::next(stored.begin(),
                             static_cast<long>(random() % stored.size()))
                       ->first);
          break;
        default: {
          const call_id call{"call_" + std::to_string(random() % 12)};
          const auto how = x.on_withdrawn(call);
          REQUIRE((how == withdrawal::none) == !open.contains(call));
          if (how == withdrawal::end) open.erase(call);
        }
      }
    };
    for (int i = 0; i < 200; ++i) step(true);
    for (int i = 0; i < 20'000 && !open.empty(); ++i) step(false);
    REQUIRE(open.empty());
    REQUIRE(x.empty());
  }
}
