// SPDX-License-Identifier: MIT
// What a run was started with is read back when it is resumed.
#include "runtime/node/node.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;

TEST_CASE("what was chosen for a run comes back") {
  run_choice x;
  x.agent = "writer";
  x.model = "small";
  x.context = "notes";
  x.max_steps = 7;
  x.time_limit = std::chrono::seconds{9};
  x.approval = GENERATE(approval_choice::none, approval_choice::all,
                        approval_choice::ask, approval_choice::nobody);
  x.cause = proposal_id{"prop_1"};
  x.folder = "/some/where";
  const auto y = choice_from_json(to_json(x));
  CHECK(y.agent == x.agent);
  CHECK(y.model == x.model);
  CHECK(y.context == x.context);
  CHECK(y.max_steps == x.max_steps);
  CHECK(y.time_limit == x.time_limit);
  CHECK(y.approval == x.approval);
  CHECK(y.cause == x.cause);
  CHECK(y.folder == x.folder);
  CHECK_FALSE(choice_from_json(to_json(run_choice{})).cause);
}

TEST_CASE("runs of older versions are resumed with what they said") {
  CHECK(choice_from_json(R"({"approve_all":true})").approval ==
        approval_choice::all);
  CHECK(choice_from_json(R"({"approve_all":false})").approval ==
        approval_choice::none);
  CHECK(choice_from_json("no json").approval == approval_choice::none);
}
