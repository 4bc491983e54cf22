// SPDX-License-Identifier: MIT
// What nobody knows of a run that was killed is said before it goes on.
#include "runtime/cli/view/cut_calls.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

TEST_CASE("cut is what may have acted and does not run again") {
  storage::session_snapshot x;
  const run_id run{"run_1"};
  const auto add = [&](const char* id, storage::call_stage stage) -> auto& {
    auto& call = x.calls.emplace_back();
    call.call.id = {id};
    call.run = run;
    call.stage = stage;
    return call;
  };
  using enum storage::call_stage;
  add("cut", intent);
  add("waits", waiting);
  add("ended", settled);
  add("reads", intent).call.eff = effect::read_only;
  add("again", intent).call.idempotent = true;
  add("other", intent).run = {"run_2"};
  const auto found = cut_calls(x, run);
  REQUIRE(found.size() == 1);
  CHECK(found.front()->call.id == call_id{"cut"});
  CHECK(cut_calls(x, {"run_3"}).empty());
}

TEST_CASE("cut calls are named, of many the first") {
  CHECK(cut_calls_text({}, 80).empty());
  CHECK(cut_calls_text({"bash: make"}, 80) ==
        "1 call was under way when Riffle ended; nobody knows how far it "
        "came:\n  bash: make\n");
  std::vector<std::string> names(7, "write: " + std::string(60, 'x'));
  const auto text = cut_calls_text(names, 40);
  CHECK(text.starts_with(
      "7 calls were under way when Riffle ended; nobody knows how far each "
      "came:\n  write: xxx"));
  CHECK(text.ends_with("…\n  … 2 more\n"));
}
