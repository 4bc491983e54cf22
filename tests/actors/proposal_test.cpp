// SPDX-License-Identifier: MIT
// Proposals that outlive their run, their process, or the model's timeout.
#include <filesystem>

#include "tests/actors/propose_scene.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using events::proposal_outcome;
using nlohmann::json;

namespace {

const std::string wants_act = model_calls(0, "act") + model_stops("tool_calls");

}  // namespace

// -- propose ------------------------------------------------------------------

TEST_CASE("with propose the run goes on, and an approval starts a run") {
  propose_scene x;
  x.play({wants_act});
  x.run_out();
  x.check();
  CHECK(x.act->acted.empty());
  CHECK(x.outcomes() == std::vector<std::string>{"denied"});
  const auto open = x.undecided();
  REQUIRE(open.size() == 1);
  const auto& what = open[0].what;
  CHECK(x.told(0).find("needs approval, proposal " + what.id.value) !=
        std::string::npos);
  const auto made = x.only("proposal");
  CHECK(made.at("source") == "tool_call");
  CHECK(made.at("status") == "open");
  CHECK(what.preview == "would act on {\"n\":1}");
  CHECK(events_of(x.reader->lines, "approval_required").empty());

  const bool edited = GENERATE(false, true);
  x.approve(what.id, edited ? R"({"n":8})" : "");
  x.pass(5s);
  const std::string ran = edited ? R"({"n":8})" : R"({"n":1})";
  CHECK(x.act->arguments == std::vector{ran});
  const auto lines = log_of(*x.journal, "run_2");
  check_log(lines);
  const auto started = events_of(lines, "run_started").at(0).at("data");
  CHECK(started.at("cause").at("proposal_id") == what.id.value);
  CHECK(events_of(lines, "tool_call").size() == 1);
  CHECK(events_of(lines, "tool_result").at(0).at("data").at("outcome") == "ok");
  CHECK(events_of(lines, "final_answer")
            .at(0)
            .at("data")
            .at("content")
            .get<std::string>()
            .find("act " + ran) != std::string::npos);
  const auto list = x.journal->list_proposals({});
  CHECK(list->at(0).executed_by == run_id{"run_2"});
  // Only once, however often it is asked for.
  caf::anon_send(x.inbox, queued_cause{open[0]});
  auto again = *x.journal->list_proposals({});
  again[0].executed_by = {};
  caf::anon_send(x.inbox, queued_cause{again[0]});
  x.pass(5s);
  CHECK(x.act->acted.size() == 1);

  // The next run of the session knows how it went.
  x.provider->requests.clear();
  x.provider->answers = {model_says("I see.") + model_stops("stop")};
  x.start(x.make_spec("run_9"));
  x.pass(5s);
  REQUIRE(x.provider->requests.size() == 1);
  check_requests(x.provider->requests);
  const auto messages = json::parse(x.provider->requests[0]).at("messages");
  std::vector<std::string> roles;
  for (const auto& m : messages) roles.push_back(m.at("role"));
  CHECK(roles == std::vector<std::string>{"user", "assistant", "tool",
                                          "assistant", "user", "assistant",
                                          "tool", "user"});
  CHECK(messages[6].at("content").get<std::string>().find("act " + ran) !=
        std::string::npos);
  CHECK(messages[5]["tool_calls"][0]["function"]["arguments"] == R"({"n":1})");
}

TEST_CASE("an approval while its run is active waits for the run's end") {
  propose_scene x;
  x.provider->answers = {};
  x.play({wants_act, model_says("Hm.") + scripted_model::hold});
  x.pass(1s);
  const auto id = x.undecided().at(0).what.id;
  SECTION("by this process") { x.approve(id); }
  SECTION("by another one, which is gone then") {
    x.decide(id, proposal_outcome::approved);
  }
  x.pass(3s);
  CHECK(x.act->acted.empty());
  CHECK(events_of(x.reader->lines, "proposal").size() == 2);
  CHECK(events_of(x.reader->lines, "proposal")[1].at("data").at("status") ==
        "approved");
  x.cancel();
  x.run_out();
  x.pass(3s);
  CHECK(x.act->acted.size() == 1);
  check_log(x.reader->lines);
  const auto executed = x.journal->list_proposals({})->at(0).executed_by;
  check_log(log_of(*x.journal, executed.value));
}

// -- proposals of any kind ----------------------------------------------------

TEST_CASE("what seek_approval proposes is tracked, and decided like the rest") {
  approval_scene x;
  x.play({model_calls(0, "seek_approval", {{"summary", "may I?"}}) +
              model_stops("tool_calls"),
          model_says("Hm.") + scripted_model::hold});
  x.pass(1s);
  REQUIRE(x.undecided().size() == 1);
  const auto what = x.undecided()[0].what;
  CHECK(what.source == events::proposal_source::seek_approval);
  CHECK(what.summary == "may I?");
  CHECK_FALSE(what.waits);
  SECTION("while the run goes on") {
    const bool yes = GENERATE(true, false);
    x.decide(what.id,
             yes ? proposal_outcome::approved : proposal_outcome::denied);
    x.pass(250ms);
    const auto told = events_of(x.reader->lines, "proposal");
    REQUIRE(told.size() == 2);
    CHECK(told[1].at("data").at("proposal_id") == what.id.value);
    CHECK(told[1].at("data").at("status") == (yes ? "approved" : "denied"));
    x.cancel();
    x.run_out();
  }
  SECTION("after its end") {
    x.cancel();
    x.run_out();
    CHECK(x.decide(what.id, proposal_outcome::approved).verdict ==
          storage::decision_verdict::accepted);
    x.pass(3s);
    CHECK(events_of(x.reader->lines, "proposal").size() == 1);
  }
  x.check();
}

TEST_CASE("a decision that comes with the run's end adds nothing behind it") {
  for (int acks = 0; acks < 8; ++acks) {
    INFO("acknowledged " << acks);
    auto journal = std::make_shared<test_journal>();
    approval_scene x{journal};
    x.play({model_calls(0, "seek_approval", {{"summary", "may I?"}}) +
                model_stops("tool_calls"),
            model_says("Hm.") + scripted_model::hold});
    x.pass(1s);
    const auto id = x.undecided().at(0).what.id;
    x.release_acks = false;
    x.cancel();
    x.settle();
    for (int i = 0; i < acks; ++i) {
      journal->release_one();
      x.settle();
    }
    x.decide(id, proposal_outcome::approved, {}, always_scope::none, true);
    x.settle();
    x.release_acks = true;
    x.run_out();
    x.check();
  }
}

TEST_CASE("what was approved has a moment to act when the process closes") {
  propose_scene x;
  x.play({wants_act});
  x.run_out();
  x.run_blocking = false;
  x.approve(x.undecided().at(0).what.id);
  x.pass(1s);
  REQUIRE_FALSE(x.blocking->jobs.empty());
  caf::anon_send(x.registry, shut_down{});
  x.settle();
  const bool in_time = GENERATE(true, false);
  x.pass(in_time ? 2s : 4s);
  x.run_blocking = true;
  x.pass(1s);
  const auto lines = log_of(*x.journal, "run_2");
  check_log(lines);
  CHECK(events_of(lines, "tool_result").at(0).at("data").at("outcome") ==
        (in_time ? "ok" : "cancelled"));
}

TEST_CASE("a proposal in the answer is found, once") {
  const std::string block =
      "I suggest:\n```json\n{\"proposal\": {\"summary\": \"Do it.\"}}\n```\n";
  approval_scene x;
  SECTION("and told before the answer") {
    x.provider->answers = {};
    x.play({model_says(block) + model_stops("stop")});
    x.run_out();
    REQUIRE(x.undecided().size() == 1);
    CHECK(x.undecided()[0].what.source == events::proposal_source::inline_text);
    CHECK(x.only("proposal").at("summary") == "Do it.");
    CHECK(x.only("proposal").at("source") == "inline");
  }
  SECTION("but not if a tool proposed something") {
    x.play({model_calls(0, "seek_approval", {{"summary", "may I?"}}) +
                model_stops("tool_calls"),
            model_says(block) + model_stops("stop")});
    x.run_out();
    REQUIRE(x.undecided().size() == 1);
    CHECK(x.undecided()[0].what.summary == "may I?");
  }
  x.check();
}

TEST_CASE("a run that says nothing answers with its proposals") {
  approval_scene x;
  x.provider->answers = {};
  std::string expected;
  SECTION("of seek_approval") {
    x.play({model_calls(0, "seek_approval", {{"summary", "may I?"}}) +
                model_stops("tool_calls"),
            model_stops("stop")});
    expected = "This waits for a decision:\n- may I?";
  }
  SECTION("of calls") {
    x.propose = true;
    x.play({wants_act, model_stops("stop")});
    expected = "This waits for a decision:\n- Acting";
  }
  SECTION("or a plain sentence") {
    x.play({model_calls(0, "look") + model_stops("tool_calls"),
            model_stops("stop")});
    expected = "The tools have run; the model gave no closing answer.";
  }
  x.run_out();
  CHECK(x.only("final_answer").at("content") == expected);
  x.check();
}

TEST_CASE("a control call that runs again after a crash proposes once") {
  for (std::size_t acks = 0; acks < 12; ++acks) {
    INFO("acknowledged " << acks);
    auto journal = std::make_shared<test_journal>();
    {
      approval_scene x{journal};
      x.play({model_calls(0, "seek_approval", {{"summary", "may I?"}}) +
              model_stops("tool_calls")});
      x.release_acks = false;
      x.settle();
      for (std::size_t i = 0; i < acks; ++i) {
        journal->release_one();
        x.settle();
      }
    }
    auto next = journal->crash(acks);
    const auto known = next->load_run(run_id{"run_1"});
    if (!known || known->state != storage::run_state::active) continue;
    next_life x{next};
    x.provider->answers = {
        model_calls(0, "seek_approval", {{"summary", "may I?"}}) +
            model_stops("tool_calls"),
        model_says("The end.") + model_stops("stop")};
    // If its turn is on record the model is not asked for it again.
    const auto session = next->load_session(session_id{"ses_1"});
    for (const auto& m : session->messages)
      if (m.role == storage::message_role::assistant)
        x.provider->answers.erase(x.provider->answers.begin());
    x.go_on();
    x.run_out();
    const auto lines = log_of(*next, "run_1");
    check_log(lines);
    CHECK(events_of(lines, "proposal").size() == 1);
    CHECK(x.undecided().size() == 1);
  }
}
