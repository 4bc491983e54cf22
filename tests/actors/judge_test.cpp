// SPDX-License-Identifier: MIT
// Rules about places are judged when a call begins, not when it was parsed.
#include <string>

#include "tests/actors/approval_scene.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_journal.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

using strings = std::vector<std::string>;

/// `act` may act in docs without a question, in src never, else it is asked.
struct scene : approval_scene {
  explicit scene(std::shared_ptr<storage::journal> stored = {})
      : approval_scene{std::move(stored)} {
    settings.by_name["redo"].approval = "allow";
    settings.by_name["act"].rules = {{"docs/*", "allow"}, {"src/*", "deny"}};
    act->place = "docs/x";
  }

  /// The calls of one turn, then the end.
  void call(const strings& names) {
    std::string words;
    for (std::size_t i = 0; i < names.size(); ++i)
      words += model_calls(static_cast<int>(i), names[i],
                           {{"n", static_cast<int>(i)}});
    play({words + model_stops("tool_calls")});
    run_out();
  }

  /// What the earlier call `redo` does to where `act` leads.
  void then(const std::string& place) {
    redo->also = [this, place](tools::tool_context&) { act->place = place; };
  }

  [[nodiscard]] std::size_t asked() const {
    return events_of(reader->lines, "approval_required").size();
  }
};

}  // namespace

TEST_CASE("an earlier call of the step changes where a call leads") {
  scene x;
  SECTION("to what is denied") {
    x.then("src/x");
    x.call({"redo", "act"});
    CHECK(x.outcomes() == strings{"ok", "denied"});
    CHECK(x.act->acted.empty());
    CHECK(x.asked() == 0);
    CHECK(x.told(1).find("does not allow") != std::string::npos);
  }
  SECTION("to what is allowed: what was denied before runs") {
    x.act->place = "src/x";
    x.then("docs/y");
    x.call({"redo", "act"});
    CHECK(x.outcomes() == strings{"ok", "ok"});
    CHECK(x.act->judged == strings{"docs/y"});
    CHECK(x.asked() == 0);
  }
  SECTION("to what has to be asked for") {
    x.then("new/x");
    x.call({"redo", "act"});
    REQUIRE(x.undecided().size() == 1);
    CHECK(x.redo->acted.size() == 1);
    CHECK(x.act->acted.empty());
    x.decide(x.undecided()[0].what.id, events::proposal_outcome::approved);
    x.pass(std::chrono::seconds{1});
    CHECK(x.outcomes() == strings{"ok", "ok"});
    CHECK(x.act->judged == strings{"new/x"});
  }
  x.check();
}

TEST_CASE("another place than the one that was agreed to is asked for anew") {
  scene x;
  x.act->place = "new/x";
  x.call({"act"});
  REQUIRE(x.undecided().size() == 1);
  const auto first = x.undecided()[0].what.id;
  SECTION("the same: nobody is asked again") {
    x.decide(first, events::proposal_outcome::approved);
    x.pass(std::chrono::seconds{1});
    CHECK(x.outcomes() == strings{"ok"});
    CHECK(x.act->judged == strings{"new/x"});
    CHECK(x.asked() == 1);
  }
  SECTION("and may be agreed to") {
    x.act->place = "new/y";
    x.decide(first, events::proposal_outcome::approved);
    x.pass(std::chrono::seconds{1});
    CHECK(x.act->acted.empty());
    REQUIRE(x.undecided().size() == 1);
    const auto second = x.undecided()[0].what.id;
    CHECK(second != first);
    x.decide(second, events::proposal_outcome::approved);
    x.pass(std::chrono::seconds{1});
    CHECK(x.outcomes() == strings{"ok"});
    CHECK(x.act->judged == strings{"new/y"});
    CHECK(x.asked() == 2);
  }
  SECTION("or not") {
    x.act->place = "new/y";
    x.decide(first, events::proposal_outcome::approved);
    x.pass(std::chrono::seconds{1});
    x.decide(x.undecided().at(0).what.id, events::proposal_outcome::denied);
    x.pass(std::chrono::seconds{1});
    CHECK(x.outcomes() == strings{"denied"});
    CHECK(x.act->acted.empty());
  }
  SECTION("unless the rules deny it: then it is denied") {
    x.act->place = "src/y";
    x.decide(first, events::proposal_outcome::approved);
    x.pass(std::chrono::seconds{1});
    CHECK(x.outcomes() == strings{"denied"});
    CHECK(x.act->acted.empty());
    CHECK(x.asked() == 1);
  }
  SECTION("unless they allow it: then it runs") {
    x.act->place = "docs/y";
    x.decide(first, events::proposal_outcome::approved);
    x.pass(std::chrono::seconds{1});
    CHECK(x.outcomes() == strings{"ok"});
    CHECK(x.act->judged == strings{"docs/y"});
  }
  x.check();
}

TEST_CASE("a place that changes while a call begins is judged again") {
  scene x;
  SECTION("it is still allowed") {
    x.act->moves = 2;
    x.act->also = [&](tools::tool_context&) {
      if (x.act->acted.empty()) x.act->place = "docs/z";
    };
    x.call({"act"});
    CHECK(x.outcomes() == strings{"ok"});
    CHECK(x.act->judged == strings{"docs/z"});
    CHECK(events_of(x.reader->lines, "tool_call").size() == 1);
  }
  SECTION("it is denied now") {
    x.act->moves = 1;
    x.act->also = [&](tools::tool_context&) { x.act->place = "src/z"; };
    x.call({"act"});
    CHECK(x.outcomes() == strings{"denied"});
    CHECK(x.act->acted.empty());
  }
  SECTION("it would have to be asked for, but it has begun") {
    x.act->moves = 1;
    x.act->also = [&](tools::tool_context&) { x.act->place = "new/z"; };
    x.call({"act"});
    CHECK(x.outcomes() == strings{"denied"});
    CHECK(x.act->acted.empty());
    CHECK(x.told(0).find("nothing was done") != std::string::npos);
  }
  SECTION("it never stands still") {
    x.act->moves = 1000;
    x.call({"act"});
    CHECK(x.outcomes() == strings{"failed"});
    CHECK(x.act->moves == 996);
    CHECK(x.act->acted.empty());
    CHECK(x.told(0).find("4 times in all") != std::string::npos);
  }
  x.check();
}

TEST_CASE("calls that only read are judged, too") {
  scene x;
  x.settings.by_name["look"].rules = {{"*.env", "deny"}};
  x.look->place = "a.txt";
  SECTION("after what was before them in the step") {
    x.redo->also = [&](tools::tool_context&) { x.look->place = "b/.env"; };
    x.call({"redo", "look"});
    CHECK(x.outcomes() == strings{"ok", "denied"});
    CHECK(x.look->acted.empty());
  }
  SECTION("and act where they were judged") {
    x.call({"look"});
    CHECK(x.outcomes() == strings{"ok"});
    CHECK(x.look->judged == strings{"a.txt"});
  }
  x.check();
}

TEST_CASE("a tool that only reads asks if its own table says so") {
  scene x;
  x.settings.by_name["look"].approval = GENERATE("ask", "deny", "default");
  const auto said = x.settings.by_name["look"].approval;
  x.call({"look"});
  if (said == "ask") {
    CHECK(x.look->acted.empty());
    x.decide(x.undecided().at(0).what.id, events::proposal_outcome::approved);
    x.pass(std::chrono::seconds{1});
  }
  CHECK(x.look->acted.size() == (said == "deny" ? 0U : 1U));
  CHECK(x.outcomes() == strings{said == "deny" ? "denied" : "ok"});
  CHECK(x.asked() == (said == "ask" ? 1U : 0U));
  x.check();
}

TEST_CASE("no thread is free to judge: the queue's limit ends the call") {
  scene x;
  x.settings.by_name["act"].queue_timeout = std::chrono::seconds{5};
  x.run_looks = false;
  x.first_looks = 1;
  x.play({model_calls(0, "act", {{"n", 0}}) + model_stops("tool_calls")});
  x.pass(std::chrono::seconds{6});
  CHECK(x.outcomes() == strings{"timed_out"});
  CHECK(x.act->acted.empty());
}

TEST_CASE("a cancel ends a call that is being judged") {
  scene x;
  x.run_looks = false;
  x.first_looks = GENERATE(0, 1);
  x.play({model_calls(0, "act", {{"n", 0}}) + model_stops("tool_calls")});
  x.settle();
  x.cancel();
  x.run_out();
  CHECK(x.outcomes() == strings{"cancelled"});
  x.run_looks = true;
  x.run_out();
  CHECK(x.act->acted.empty());
  x.check();
}

TEST_CASE("what was approved before a crash is judged when it begins") {
  const std::string place = GENERATE("new/x", "src/x", "new/y");
  CAPTURE(place);
  const auto stored = std::make_shared<test_journal>();
  {
    scene x{stored};
    x.act->place = "new/x";
    x.call({"act"});
    REQUIRE(x.undecided().size() == 1);
  }
  next_life x{stored->crash(1)};
  x.settings.by_name["act"].rules = {{"docs/*", "allow"}, {"src/*", "deny"}};
  x.decide(x.undecided().at(0).what.id, events::proposal_outcome::approved);
  x.act->place = place;
  x.go_on();
  x.pass(std::chrono::seconds{1});
  CHECK(x.act->acted.size() == (place == "new/x" ? 1U : 0U));
  CHECK(x.undecided().size() == (place == "new/y" ? 1U : 0U));
  if (place == "src/x") CHECK(x.outcomes() == strings{"denied"});
}
