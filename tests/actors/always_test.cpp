// SPDX-License-Identifier: MIT
// "Always" and its scopes; nobody to ask.
#include "tests/actors/approval_scene.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using events::proposal_outcome;
using nlohmann::json;

namespace {

std::string acts(int n) {
  return model_calls(0, "act", {{"n", n}}) + model_stops("tool_calls");
}

/// A session in which `act` with n = 1 was approved with this scope; further
/// runs of it call it once each.
struct always_scene : approval_scene {
  explicit always_scene(always_scope scope) {
    play({acts(1)});
    pass(1s);
    REQUIRE(undecided().size() == 1);
    granted = undecided()[0].what.id;
    decide(granted, proposal_outcome::approved, {}, scope);
    run_out();
    REQUIRE(this->act->acted.size() == 1);
  }

  /// Whether the next call runs without a question.
  bool runs(int n) {
    const auto before = this->act->acted.size();
    provider->answers = {testing_calls(n),
                         model_says("The end.") + model_stops("stop")};
    auto spec = make_spec("run_" + std::to_string(++last));
    spec->folder = folder;
    spec->transport = provider;
    reader = std::make_shared<recording_subscriber>();
    provider->requests.clear();
    start(spec);
    pass(1s);
    const bool ran = this->act->acted.size() > before;
    for (const auto& x : undecided())
      decide(x.what.id, proposal_outcome::denied);
    run_out();
    check_log(reader->lines);
    return ran;
  }
  static std::string testing_calls(int n) { return acts(n); }

  proposal_id granted;
  std::string folder;
  int last = 1;
};

}  // namespace

TEST_CASE("always reaches as far as its scope") {
  SECTION("this call") {
    always_scene x{always_scope::call};
    CHECK(x.runs(1));
    CHECK_FALSE(x.runs(2));
    // The script that it runs is another one now, then the first one again.
    x.act->from = "of another content";
    CHECK_FALSE(x.runs(1));
    x.act->from.clear();
    CHECK(x.runs(1));
  }
  SECTION("the tool") {
    always_scene x{always_scope::tool};
    CHECK(x.runs(1));
    CHECK(x.runs(2));
  }
  SECTION("nothing else") {
    always_scene x{always_scope::none};
    CHECK_FALSE(x.runs(1));
  }
}

TEST_CASE("always ends where its conditions do") {
  always_scene x{always_scope::tool};
  REQUIRE(x.runs(2));
  SECTION("it is revoked") {
    REQUIRE(x.journal->revoke(x.granted).value());
    CHECK_FALSE(x.journal->revoke(x.granted).value());
    CHECK_FALSE(x.runs(2));
  }
  SECTION("the tool is another one") {
    x.act->is = " of another kind";
    CHECK_FALSE(x.runs(2));
  }
  SECTION("the folder is another one") {
    x.folder = "/elsewhere";
    CHECK_FALSE(x.runs(2));
  }
  SECTION("a rule asks") {
    x.settings.defaults.rules = {{R"({"n":2})", "ask"}};
    CHECK_FALSE(x.runs(2));
    CHECK(x.runs(3));
  }
  SECTION("a rule denies") {
    x.settings.defaults.rules = {{R"({"n":2})", "deny"}};
    CHECK_FALSE(x.runs(2));
  }
  SECTION("none are approved") {
    x.approval = approve::none;
    CHECK_FALSE(x.runs(2));
  }
}

TEST_CASE("a revoked always counts no more in a run that goes on") {
  approval_scene x;
  x.play({acts(1), acts(2), acts(3)});
  x.pass(1s);
  const auto id = x.undecided().at(0).what.id;
  x.act->also = [&](tools::tool_context&) {
    if (x.act->acted.size() == 2) x.journal->revoke(id).value();
  };
  x.decide(id, proposal_outcome::approved, {}, always_scope::tool);
  x.pass(2s);
  CHECK(x.act->acted.size() == 2);
  REQUIRE(x.undecided().size() == 1);
  x.decide(x.undecided()[0].what.id, proposal_outcome::denied);
  x.run_out();
  const auto resolved = events_of(x.reader->lines, "approval_resolved");
  REQUIRE(resolved.size() == 3);
  CHECK(resolved[1].at("data").at("by") == "always (ann)");
  x.check();
}

TEST_CASE("where a rule asks, always is not offered") {
  approval_scene x;
  x.settings.defaults.rules = {{R"({"n":1})", "ask"}};
  x.play({acts(1), acts(2)});
  x.pass(1s);
  auto asked = events_of(x.reader->lines, "approval_required");
  CHECK_FALSE(asked.at(0).at("data").contains("always"));
  x.decide(x.undecided().at(0).what.id, proposal_outcome::approved, {},
           always_scope::tool);
  x.pass(1s);
  CHECK(x.journal->grants({}).value().empty());
  asked = events_of(x.reader->lines, "approval_required");
  CHECK(asked.at(1).at("data").at("always") == true);
  x.decide(x.undecided().at(0).what.id, proposal_outcome::denied);
  x.run_out();
}

TEST_CASE("nobody to ask is on record, and is not what was chosen") {
  approval_scene x;
  x.approval = GENERATE(approve::nobody, approve::none);
  x.play({acts(1)});
  x.run_out();
  CHECK(x.act->acted.empty());
  const auto resolved = x.only("approval_resolved");
  CHECK(resolved.at("decision") == "denied");
  CHECK(resolved.contains("unasked") == (x.approval == approve::nobody));
  CHECK(x.outcomes() == std::vector<std::string>{"denied"});
  x.check();
}

TEST_CASE("a call that a rule denies is not one that nobody was asked about") {
  approval_scene x;
  x.approval = approve::nobody;
  x.settings.defaults.approval = "deny";
  x.play({acts(1)});
  x.run_out();
  CHECK(x.outcomes() == std::vector<std::string>{"denied"});
  CHECK(x.reader->lines.find("unasked") == std::string::npos);
}

TEST_CASE("with nobody there, what was always approved still counts") {
  always_scene x{always_scope::tool};
  x.approval = approve::nobody;
  CHECK(x.runs(4));
}
