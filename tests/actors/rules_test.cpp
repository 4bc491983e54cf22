// SPDX-License-Identifier: MIT
// Rules of the configuration look at what a call would do.
#include <string>

#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

const std::string the_end =
    model_says("done") + model_stops("stop") + model_done;

/// The log of a run whose model makes one call.
std::string log_of(actor_fixture& x, const std::string& tool, int n) {
  x.begin();
  x.provider->answers = {
      model_calls(0, tool, {{"n", n}}) + model_stops("tool_calls") + model_done,
      the_end};
  x.start(x.make_spec());
  x.run_out();
  check_log(x.reader->lines);
  check_requests(x.provider->requests);
  return x.reader->lines;
}

std::string outcome_of(const std::string& lines) {
  return events_of(lines, "tool_result").at(0).at("data").at("outcome");
}

}  // namespace

TEST_CASE("rules decide about a call's arguments") {
  actor_fixture x;
  x.settings.by_name["act"].approval = "ask";
  x.settings.by_name["act"].rules = {{R"({"n":1*})", "allow"},
                                     {R"({"n":2*})", "deny"}};
  SECTION("allowed: nobody is asked") {
    const auto log = log_of(x, "act", 1);
    CHECK(outcome_of(log) == "ok");
    CHECK(events_of(log, "approval_required").empty());
    CHECK(x.act->acted.size() == 1);
  }
  SECTION("denied: nobody is asked, and it never runs") {
    const auto log = log_of(x, "act", 2);
    CHECK(outcome_of(log) == "denied");
    CHECK(events_of(log, "approval_required").empty());
    CHECK(x.act->acted.empty());
    CHECK(x.provider->requests.back().find(
              "does not allow this call of `act` (rule `{") !=
          std::string::npos);
  }
  SECTION("neither: the tool's policy") {
    const auto log = log_of(x, "act", 3);
    CHECK(events_of(log, "approval_required").size() == 1);
    CHECK(x.act->acted.empty());
  }
}

TEST_CASE("a rule can ask for the consent to look at something") {
  actor_fixture x;
  x.settings.by_name["look"].rules = {{R"({"n":1*})", "ask"}};
  SECTION("it matches") {
    const auto log = log_of(x, "look", 1);
    CHECK(outcome_of(log) == "denied");
    const auto asked = events_of(log, "approval_required");
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].at("data").at("reason") ==
          "a rule asks before this call of `look`");
    CHECK(x.look->acted.empty());
  }
  SECTION("without a rule") {
    x.settings.by_name["look"].rules.clear();
    x.settings.by_name["look"].approval = "ask";
    const auto asked = events_of(log_of(x, "look", 1), "approval_required");
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].at("data").at("reason") ==
          "you are asked before each call of `look`");
  }
  SECTION("it does not") {
    const auto log = log_of(x, "look", 2);
    CHECK(outcome_of(log) == "ok");
    CHECK(events_of(log, "approval_required").empty());
  }
}
