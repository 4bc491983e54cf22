// SPDX-License-Identifier: MIT
// A person decides about calls: in any order, once, in time or too late.
#include <filesystem>

#include "tests/actors/approval_scene.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using events::proposal_outcome;
using nlohmann::json;

TEST_CASE("a call waits for its decision, and nothing else does") {
  approval_scene x;
  x.play({model_calls(0, "look") + model_calls(1, "act") +
          model_stops("tool_calls")});
  x.pass(1h);
  CHECK(x.look->acted.size() == 1);
  CHECK(x.act->acted.empty());
  const auto asked = x.only("approval_required");
  const auto open = x.undecided();
  REQUIRE(open.size() == 1);
  const auto& what = open[0].what;
  CHECK(asked.at("proposal_id") == what.id.value);
  CHECK(asked.at("id") == what.call.value);
  CHECK(asked.at("title") == "Acting");
  CHECK(asked.at("arguments") == json{{"n", 1}});
  CHECK(asked.at("preview") == "would act on {\"n\":1}");
  CHECK(what.preview == "would act on {\"n\":1}");
  CHECK(what.waits);
  CHECK(what.run == x.run);
  CHECK_FALSE(asked.contains("expires_at"));
  SECTION("approved by another process: it runs soon, and once") {
    x.decide(what.id, proposal_outcome::approved);
    x.pass(250ms);
    CHECK(x.act->acted == std::vector{what.call});
    x.run_out();
    const auto resolved = x.only("approval_resolved");
    CHECK(resolved.at("decision") == "approved");
    CHECK(resolved.at("by") == "ann");
    CHECK_FALSE(resolved.contains("arguments"));
    CHECK(x.outcomes() == std::vector<std::string>{"ok", "ok"});
  }
  SECTION("approved by this process: it runs at once") {
    x.decide(what.id, proposal_outcome::approved, {}, always_scope::none, true);
    x.settle();
    CHECK(x.act->acted == std::vector{what.call});
    x.run_out();
  }
  SECTION("denied: the model is told why") {
    x.decide(what.id, proposal_outcome::denied);
    x.run_out();
    CHECK(x.act->acted.empty());
    CHECK(x.outcomes() == std::vector<std::string>{"ok", "denied"});
    CHECK(x.told(1).find("denied by ann: because") != std::string::npos);
    CHECK(x.error_code(1) == "approval_denied");
  }
  x.check();
}

TEST_CASE("calls are asked about when what changes before them is done") {
  approval_scene x;
  x.play({model_calls(0, "act") + model_calls(1, "act", {{"n", 2}}) +
          model_calls(2, "redo", {{"n", 3}}) + model_stops("tool_calls")});
  std::vector<call_id> asked;
  for (const auto how : {proposal_outcome::approved, proposal_outcome::denied,
                         proposal_outcome::approved}) {
    x.pass(1s);
    const auto open = x.undecided();
    REQUIRE(open.size() == 1);
    CHECK(x.redo->acted.empty());
    asked.push_back(open[0].what.call);
    x.decide(open[0].what.id, how);
  }
  x.run_out();
  CHECK(x.act->acted == std::vector{asked[0]});
  CHECK(x.redo->acted == std::vector{asked[2]});
  CHECK(x.outcomes() == std::vector<std::string>{"ok", "denied", "ok"});
  x.check();
}

TEST_CASE("the first of two decisions wins") {
  approval_scene x;
  x.play({model_calls(0, "act") + model_stops("tool_calls")});
  x.pass(1s);
  const auto id = x.undecided().at(0).what.id;
  const bool approve = GENERATE(true, false);
  const auto first =
      approve ? proposal_outcome::approved : proposal_outcome::denied;
  const auto second =
      approve ? proposal_outcome::denied : proposal_outcome::approved;
  CHECK(x.decide(id, first).verdict == storage::decision_verdict::accepted);
  const auto late = x.decide(id, second);
  CHECK(late.verdict == storage::decision_verdict::too_late);
  CHECK(late.now->decided->how == first);
  x.run_out();
  CHECK(x.act->acted.size() == (approve ? 1 : 0));
  CHECK(x.only("approval_resolved").at("decision") ==
        (approve ? "approved" : "denied"));
  x.check();
}

TEST_CASE("a proposal expires, and decide and expire may race") {
  approval_scene x;
  x.expire_after = 10min;
  x.play({model_calls(0, "act") + model_stops("tool_calls")});
  x.pass(9min + 59s);
  const auto open = x.undecided();
  REQUIRE(open.size() == 1);
  CHECK(x.only("approval_required").contains("expires_at"));
  CHECK(open[0].what.expires == wall_time{1'000'000 + 600'000'000});
  SECTION("nobody decides") {
    x.pass(2s);
    const auto late = x.decide(open[0].what.id, proposal_outcome::approved);
    CHECK(late.verdict == storage::decision_verdict::too_late);
    CHECK(late.now->decided->how == proposal_outcome::expired);
    x.run_out();
    CHECK(x.only("approval_resolved").at("decision") == "expired");
    CHECK(x.only("approval_resolved").at("by") == "riffle");
    CHECK(x.error_code(0) == "approval_expired");
    CHECK(x.act->acted.empty());
  }
  SECTION("the decision is stored right before") {
    x.advance(900ms);  // nothing that is due has happened yet
    x.decide(open[0].what.id, proposal_outcome::approved);
    x.advance(10s);
    x.run_out();
    CHECK(x.only("approval_resolved").at("decision") == "approved");
    CHECK(x.act->acted.size() == 1);
  }
  x.check();
}

TEST_CASE("decide and cancel may come in either order") {
  approval_scene x;
  x.play({model_calls(0, "act") + model_stops("tool_calls")});
  x.pass(1s);
  const auto id = x.undecided().at(0).what.id;
  SECTION("the cancel comes first") {
    x.cancel();
    x.run_out();
    CHECK(x.decide(id, proposal_outcome::approved).verdict ==
          storage::decision_verdict::too_late);
    CHECK(x.only("approval_resolved").at("decision") == "cancelled");
  }
  SECTION("the decision is stored first") {
    x.decide(id, proposal_outcome::approved);
    x.cancel();
    x.run_out();
    CHECK(x.only("approval_resolved").at("decision") == "approved");
  }
  CHECK(x.act->acted.empty());
  CHECK(x.outcomes() == std::vector<std::string>{"cancelled"});
  CHECK(x.only("run_finished").at("status") == "cancelled");
  x.check();
}

TEST_CASE("a cancel while the preview is made asks for nothing") {
  approval_scene x;
  x.run_looks = false;
  x.first_looks = GENERATE(0, 1);  // 0: not even its place is known
  x.play({model_calls(0, "act") + model_stops("tool_calls")});
  x.settle();
  REQUIRE(x.looks->jobs.size() == 1);
  x.cancel();
  x.settle();
  x.run_looks = true;
  x.run_out();
  CHECK(events_of(x.reader->lines, "approval_required").empty());
  CHECK(x.undecided().empty());
  x.check();
}

TEST_CASE("edited arguments are what runs, and the model is told") {
  approval_scene x;
  x.play({model_calls(0, "act") + model_stops("tool_calls")});
  x.pass(1s);
  const auto what = x.undecided().at(0).what;
  x.decide(what.id, proposal_outcome::approved, R"({"n":7})");
  x.run_out();
  CHECK(x.act->arguments == std::vector<std::string>{R"({"n":7})"});
  CHECK(x.only("approval_resolved").at("arguments") == json{{"n", 7}});
  CHECK(x.only("tool_call").at("arguments") == json{{"n", 7}});
  CHECK(x.told(0).find("What really ran: act {\"n\":7}") != std::string::npos);
  // The conversation keeps what the model said.
  const auto request = json::parse(x.provider->requests.back());
  for (const auto& m : request.at("messages"))
    if (m.contains("tool_calls"))
      CHECK(m["tool_calls"][0]["function"]["arguments"] == R"({"n":1})");
  x.check();
}

TEST_CASE("edited arguments that cannot run are a denial") {
  approval_scene x;
  std::string edit;
  std::string why;
  SECTION("a rule denies them") {
    x.settings.by_name["act"] = x.settings.defaults;
    x.settings.by_name["act"].rules = {{R"({"n":13*})", "deny"}};
    edit = R"({"n":13})";
    why = "does not allow";
  }
  SECTION("they are no object") {
    edit = "[1]";
    why = "not valid";
  }
  x.play({model_calls(0, "act") + model_stops("tool_calls")});
  x.pass(1s);
  x.decide(x.undecided().at(0).what.id, proposal_outcome::approved, edit);
  x.run_out();
  CHECK(x.act->acted.empty());
  CHECK(x.only("approval_resolved").at("decision") == "denied");
  CHECK(x.only("approval_resolved").at("by") == "riffle");
  CHECK(x.told(0).find(why) != std::string::npos);
  x.check();
}

TEST_CASE("an approval of anything else than what would run is asked again") {
  approval_scene x;
  x.play({model_calls(0, "act") + model_stops("tool_calls")});
  x.pass(1s);
  const auto id = x.undecided().at(0).what.id;
  auto wrong = *x.decide(id, proposal_outcome::approved).now->decided;
  wrong.digest = std::string(64, '0');
  caf::anon_send(x.inbox, decision_known{wrong});
  x.pass(1s);
  CHECK(x.act->acted.empty());
  CHECK(x.only("approval_resolved").at("decision") == "cancelled");
  REQUIRE(x.undecided().size() == 1);
  CHECK(x.undecided()[0].what.replaces == id);
  x.decide(x.undecided()[0].what.id, proposal_outcome::denied);
  x.run_out();
  x.check();
}

TEST_CASE("always holds for the tool and the session, also after a restart") {
  auto journal = storage::make_memory_journal();
  const std::shared_ptr<storage::journal> shared{std::move(journal)};
  {
    approval_scene x{shared};
    x.play({model_calls(0, "act") + model_stops("tool_calls"),
            model_calls(0, "act", {{"n", 2}}) +
                model_calls(1, "redo", {{"n", 3}}) +
                model_stops("tool_calls")});
    x.pass(1s);
    x.decide(x.undecided().at(0).what.id, proposal_outcome::approved, {},
             always_scope::tool);
    x.pass(1s);
    CHECK(x.act->acted.size() == 2);
    REQUIRE(x.undecided().size() == 1);  // of another tool
    CHECK(x.undecided()[0].what.tool == "redo");
    const auto resolved = events_of(x.reader->lines, "approval_resolved");
    REQUIRE(resolved.size() == 2);
    CHECK(resolved[1].at("data").at("by") == "always (ann)");
    x.decide(x.undecided().at(0).what.id, proposal_outcome::denied);
    x.run_out();
    x.check();
  }
  approval_scene x{shared};
  x.ids = std::make_shared<id_source>(8, [] { return wall_time{2'000'000}; });
  x.play({model_calls(0, "act", {{"n", 5}}) + model_stops("tool_calls")},
         "run_2");
  x.run_out();
  CHECK(x.act->acted.size() == 1);
  SECTION("but not in another session") {
    approval_scene y{shared};
    y.ids = std::make_shared<id_source>(9, [] { return wall_time{3'000'000}; });
    y.session = session_id{"ses_2"};
    y.play({model_calls(0, "act", {{"n", 6}}) + model_stops("tool_calls")},
           "run_3");
    y.pass(1s);
    CHECK(y.act->acted.empty());
    CHECK(y.undecided().size() == 1);
  }
  SECTION("and not if nobody may be asked") {
    approval_scene y{shared};
    y.approval = approve::none;
    y.ids = std::make_shared<id_source>(9, [] { return wall_time{3'000'000}; });
    y.play({model_calls(0, "act", {{"n", 6}}) + model_stops("tool_calls")},
           "run_3");
    y.run_out();
    CHECK(y.act->acted.empty());
  }
}

TEST_CASE("a decision by policy is on record, and later ones are too late") {
  approval_scene x;
  x.approval = GENERATE(approve::all, approve::none);
  x.play({model_calls(0, "act") + model_stops("tool_calls")});
  x.run_out();
  const proposal_id id{x.only("approval_required").at("proposal_id")};
  CHECK(x.undecided().empty());
  CHECK(x.decide(id, proposal_outcome::denied).verdict ==
        storage::decision_verdict::too_late);
  x.check();
}
