// SPDX-License-Identifier: MIT
// Where a call leads, and whether a command only reads, is asked of the file
// system on threads that may block, never on an actor's.
#include <string>
#include <vector>

#include "tests/actors/approval_scene.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

using strings = std::vector<std::string>;

/// A rule looks at where `look` and `act` lead; `act` is allowed there.
struct scene : approval_scene {
  scene() {
    for (const auto* name : {"look", "act"})
      settings.by_name[name].rules = {{"docs/*", "allow"}};
    look->place = act->place = "docs/x";
  }

  [[nodiscard]] strings called() const {
    strings out;
    for (const auto& x : events_of(reader->lines, "tool_call"))
      out.push_back(x.at("data").at("tool"));
    return out;
  }
};

}  // namespace

TEST_CASE("a call with a rule is looked at on a thread that may block") {
  scene x;
  x.run_looks = false;
  x.play({model_calls(0, "look") + scripted_model::hold});
  x.pass(5s);
  CHECK(x.look->subjects == 0);
  CHECK(x.looks->jobs.size() == 1);
  CHECK(x.called().empty());
  x.run_looks = true;
  x.pass(100ms);
  CHECK(x.look->acted.size() == 1);  // the turn goes on
  x.cancel();
  x.run_out();
  x.check();
}

TEST_CASE("a call that no rule looks at waits for no look") {
  scene x;
  x.settings.by_name["look"].rules.clear();
  x.run_looks = false;
  x.play({model_calls(0, "look") + scripted_model::hold});
  x.settle();
  CHECK(x.look->acted.size() == 1);
  CHECK(x.looks->jobs.empty());
  x.cancel();
  x.run_out();
  x.check();
}

TEST_CASE("calls keep their order, whichever of them is looked at") {
  scene x;
  x.settings.by_name["redo"].approval = "allow";
  x.run_looks = false;
  const auto words = model_calls(0, "act", {{"n", 1}}) +
                     model_calls(1, "redo", {{"n", 2}}) +
                     model_calls(2, "look", {{"n", 3}});
  x.play({words + model_stops("tool_calls")});
  x.pass(1s);
  CHECK(x.called().empty());
  x.run_looks = true;
  x.run_out();
  CHECK(x.called() == strings{"act", "redo", "look"});
  CHECK(x.outcomes() == strings{"ok", "ok", "ok"});
  CHECK(x.act->arguments == strings{R"({"n":1})"});
  x.check();
}

TEST_CASE("calls that came during a look are looked at together") {
  scene x;
  x.run_looks = false;
  std::string many;
  for (int i = 0; i < 50; ++i) many += model_calls(i, "look", {{"n", i}});
  x.play({many + model_stops("tool_calls")});
  x.settle();
  int looks = 0;
  for (; x.look->subjects < 50 && looks < 10; ++looks) {
    x.first_looks = 1;
    x.settle();
  }
  CHECK(looks <= 3);
  x.run_looks = true;
  x.run_out();
  CHECK(x.outcomes() == strings(50, "ok"));
  x.check();
}

TEST_CASE("a turn that breaks off during a look begins nothing") {
  scene x;
  x.run_looks = false;
  x.play({model_calls(0, "look") + scripted_model::cut,
          model_says("Again.") + model_stops("stop")});
  x.pass(30s);
  CHECK(x.only("run_finished").at("status") == "completed");
  x.run_looks = true;
  x.run_out();
  CHECK(x.look->acted.empty());
  x.check();
}

TEST_CASE("a cancel waits for no look") {
  scene x;
  x.run_looks = false;
  const bool ended = GENERATE(false, true);
  x.play({model_calls(0, "look") +
          (ended ? model_stops("tool_calls") : scripted_model::hold)});
  x.settle();
  x.cancel();
  x.pass(6s);
  CHECK(x.only("run_finished").at("status") == "cancelled");
  x.run_looks = true;
  x.run_out();
  CHECK(x.look->acted.empty());
  x.check();
}
