// SPDX-License-Identifier: MIT
// A decision on the thread that stores what it is about.
#include <pthread.h>
#include <string>
#include <string_view>
#include <vector>

#include "tests/api/decide_scene.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

/// Of five decisions of a handler those made on the journal's thread.
int decided_while_stored() {
  const stored_in_folder made;
  std::string script;
  for (int i = 0; i < 5; ++i)
    script +=
        "[[steps]]\n"
        "calls = [{ tool = \"change\", arguments = { at = \"a\" } }]\n";
  decide_scene x{script + "[[steps]]\ntext = \"done\"\n", "wait", made.open()};
  std::vector<decision_verdict> verdicts;
  int here = 0;
  const auto going = x.start([&](const event_batch& batch) {
    char name[16] = {};
    ::pthread_getname_np(::pthread_self(), name, sizeof name);
    batch.for_each([&](const event_view& line) {
      if (line.type() != "approval_required") return;
      const auto asked = line.parse();
      const auto& body = std::get<events::approval_required>(asked->body);
      auto yes = approved();
      yes.digest = body.digest;
      if (const auto done = x.rt->decide(body.proposal, yes))
        verdicts.push_back(done->verdict);
      if (std::string_view{name} == "riffle.journal") ++here;
    });
  });
  CHECK(end_of(going).answer == "done");
  CHECK(verdicts == std::vector(5, decision_verdict::accepted));
  CHECK(x.seen().size() == 5);
  return here;
}

}  // namespace

TEST_CASE("a handler may decide on the thread that stores what it is shown") {
  // A busy machine sends some to other threads, see `inline_run`.
  int here = 0;
  for (int round = 0; round < 20 && here == 0; ++round)
    here = decided_while_stored();
  CHECK(here > 0);
}
