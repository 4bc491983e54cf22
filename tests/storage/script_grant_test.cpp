// SPDX-License-Identifier: MIT
// What was allowed of a script is bound to what it holds.
#include "runtime/base/call_identity.hpp"
#include "runtime/storage/proposal.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::storage;

TEST_CASE("a pattern that names a file holds while that is what it was") {
  proposal_record what;
  what.id = {"prop_1"};
  what.tool = "bash";
  what.arguments = "{}";
  what.can_always = true;
  what.definition = "def";
  what.pattern = "./dev test *";
  what.basis = basis_with_program("whole", "file");
  decision_record x;
  x.proposal = what.id;
  x.how = events::proposal_outcome::approved;
  x.always = always_scope::pattern;
  const auto grant = grant_of(what, x);
  REQUIRE(grant);
  CHECK(covers_waiting(*grant, what));
  SECTION("other words") {
    what.basis = basis_with_program("another", "file");
    CHECK(covers_waiting(*grant, what));
  }
  SECTION("another file") {
    what.basis = basis_with_program("whole", "changed");
    CHECK_FALSE(covers_waiting(*grant, what));
  }
  SECTION("a file that nobody knows") {
    what.basis = "whole";
    CHECK_FALSE(covers_waiting(*grant, what));
    CHECK_FALSE(grant_of(what, x));
  }
  SECTION("what older versions kept, without its file") {
    auto old = *grant;
    old.definition = what.definition;
    CHECK_FALSE(covers_waiting(old, what));
  }
}
