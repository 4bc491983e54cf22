// SPDX-License-Identifier: MIT
// The model learns what became of its proposals.
#include "actors/tools/proposal_texts.hpp"
#include "tests/actors/approval_scene.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using events::proposal_outcome;

namespace {

storage::proposal_state proposal(const std::string& id, wall_time at,
                                 proposal_outcome how) {
  storage::proposal_state x;
  x.what.id = proposal_id{id};
  x.what.summary = "may I?\nPlease.";
  x.what.source = events::proposal_source::seek_approval;
  x.decided = storage::decision_record{
      x.what.id, how, "ann", "because", {}, always_scope::none, at, {}};
  return x;
}

storage::session_snapshot two_runs() {
  storage::session_snapshot session;
  for (const auto* id : {"run_1", "run_2", "run_3"}) {
    storage::run_record run;
    run.id = run_id{id};
    run.started =
        wall_time{static_cast<std::int64_t>(session.runs.size()) * 100};
    session.runs.push_back(run);
  }
  return session;
}

std::string note_of(const storage::session_snapshot& session,
                    std::int64_t now = 250) {
  return decision_note(session, run_id{"run_3"}, wall_time{now});
}

}  // namespace

TEST_CASE("decisions since the run before began are told, once") {
  auto session = two_runs();
  CHECK(note_of(session).empty());
  session.proposals = {
      proposal("prop_old", wall_time{99}, proposal_outcome::approved),
      proposal("prop_yes", wall_time{100}, proposal_outcome::approved),
      proposal("prop_no", wall_time{150}, proposal_outcome::denied)};
  CHECK(note_of(session) ==
        "[Note of the runtime] What was decided about your proposals:\n"
        "- prop_yes (may I?): approved by ann: because\n"
        "- prop_no (may I?): denied by ann: because\n");
}

TEST_CASE("a call that an approval executed tells its own result") {
  auto session = two_runs();
  session.proposals = {
      proposal("prop_1", wall_time{150}, proposal_outcome::approved)};
  session.proposals[0].what.source = events::proposal_source::tool_call;
  CHECK(note_of(session).empty());
  session.proposals[0].decided->how = proposal_outcome::denied;
  CHECK(note_of(session).find("denied by ann") != std::string::npos);
  session.proposals[0].what.waits = true;  // its own run has told it
  CHECK(note_of(session).empty());
}

TEST_CASE("a proposal whose time is over is told as undecided") {
  auto session = two_runs();
  session.proposals = {proposal("prop_1", {}, proposal_outcome::denied)};
  session.proposals[0].decided.reset();
  CHECK(note_of(session).empty());  // open
  session.proposals[0].what.expires = wall_time{200};
  CHECK(note_of(session).find("nobody decided in time") != std::string::npos);
  CHECK(note_of(session, 150).empty());
  session.proposals[0].what.expires = wall_time{50};  // told by run_2
  CHECK(note_of(session).empty());
}

TEST_CASE("the next run of a session begins with what was decided") {
  approval_scene x;
  x.play({model_calls(0, "seek_approval", {{"summary", "may I?"}}) +
          model_stops("tool_calls")});
  x.run_out();
  x.check();
  const auto id = x.undecided().at(0).what.id;
  x.decide(id, proposal_outcome::approved);
  x.provider->requests.clear();
  x.start(x.make_spec("run_2"));
  x.run_out();
  check_log(log_of(*x.journal, "run_2"));
  const auto request = nlohmann::json::parse(x.provider->requests.at(0));
  const auto& messages = request.at("messages");
  REQUIRE(messages.size() >= 2);
  CHECK(messages[messages.size() - 2].at("content") ==
        "[Note of the runtime] What was decided about your proposals:\n- " +
            id.value + " (may I?): approved by ann: because\n");
  // Recovery and later runs read the same conversation.
  const auto session = x.journal->load_session(x.session);
  std::size_t notes = 0;
  for (const auto& m : session->messages)
    if (m.text.starts_with("[Note of the runtime] What was decided")) ++notes;
  CHECK(notes == 1);
}
