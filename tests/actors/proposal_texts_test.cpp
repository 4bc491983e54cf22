// SPDX-License-Identifier: MIT
#include "actors/tools/proposal_texts.hpp"

#include "actors/tools/call_check.hpp"
#include "actors/tools/call_records.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

namespace {

std::string told(const std::string& why, errc code = errc::approval_denied) {
  call_result x;
  x.how = outcome::denied;
  x.err = error{code, "dispatcher", why, false, {}};
  return told_text(x, 1000);
}

std::string denied_by_user(const std::string& reason) {
  storage::decision_record x;
  x.how = events::proposal_outcome::denied;
  x.by = "user";
  x.reason = reason;
  return denial_text(x);
}

}  // namespace

TEST_CASE("advice to a model is no part of what people read of a denial") {
  for (const std::string& why :
       {std::string{nobody_there}, std::string{not_allowed},
        denied_by_user("")}) {
    CAPTURE(why);
    CHECK_THAT(why, !Contains("go on without it"));
    CHECK_THAT(told(why),
               EndsWith(why + "; go on without it, or say what you would do"));
  }
  CHECK_THAT(told(expired, errc::approval_expired),
             EndsWith("; go on without it, or say what you would do"));
  storage::proposal_record waits;
  waits.id = proposal_id{"prop_1"};
  CHECK_THAT(proposed(waits), !Contains("Go on without it"));
  CHECK_THAT(told(proposed(waits)), EndsWith("Do not ask for it again"));
  // A person's own words are enough.
  CHECK_THAT(told(denied_by_user("use a copy")),
             EndsWith("denied by user: use a copy"));
}

TEST_CASE("a cause has one wording, whoever denies for it") {
  storage::decision_record x;
  x.how = events::proposal_outcome::denied;
  for (const auto* by : {"--approve none", "/approve none"}) {
    x.by = by;
    x.reason = not_allowed;
    CHECK(denial_text(x) == not_allowed);
  }
  // As where a rule keeps it back without a question.
  x.by = "/approve all";
  x.reason = kept_back_in_doubt("bash", "rm *");
  CHECK(denial_text(x) == doubtful_call("bash", "rm *").message);
  CHECK_THAT(told(x.reason), Contains("say it more plainly"));
  for (const auto& why :
       {kept_back_by_rule("bash"), kept_back_by_rule("bash", "rm *"),
        kept_back_by_rule("bash", {}, " of the node")}) {
    CHECK_THAT(why, !Contains("another form"));
    CHECK_THAT(told(why),
               EndsWith(why + "; do not try it again in another form"));
  }
  CHECK_THAT(told(kept_back_by_node("bash")),
             EndsWith("; go on without it, or say what you would do"));
}

TEST_CASE("what a tool says in the words of a decision gets no advice") {
  for (const std::string why :
       {"denied by policy", "needs approval, proposal 7: ask your admin"})
    CHECK_THAT(told(why, errc::tool_execution_error), EndsWith(why));
}

TEST_CASE("who changed a call's arguments is not told that they did") {
  storage::call_record x;
  x.call.tool = "bash";
  x.call.arguments = R"({"command":"make -n"})";
  x.told = "output";
  CHECK(told_without_note(x) == "output");
  x.call.edited_from = R"({"command":"make"})";
  x.told = edit_note(x.call) + "output";
  CHECK_THAT(x.told, Contains("changed its arguments"));
  CHECK(told_without_note(x) == "output");
}
