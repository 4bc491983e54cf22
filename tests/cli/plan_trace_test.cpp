// SPDX-License-Identifier: MIT
// What traces say of plans.
#include "runtime/cli/view/trace_writer.hpp"
#include "tests/cli/told_run.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

namespace {

struct plan_feed {
  explicit plan_feed(verbosity level = verbosity::normal)
      : traces{{level, false, true, false}} {}

  std::string operator()(events::body body) {
    event x;
    x.body = std::move(body);
    return traces.on(x);
  }

  trace_writer traces;
};

events::tool_call a_call(const std::string& tool) {
  events::tool_call x;
  x.id = {"call_1"};
  x.tool = tool;
  return x;
}

events::tool_result its_result(outcome how) {
  events::tool_result x;
  x.id = {"call_1"};
  x.tool = "manage_plan";
  x.how = how;
  return x;
}

}  // namespace

TEST_CASE("a plan is shown whole at first, then what changed") {
  plan_feed on;
  CHECK(on(events::plan_updated{
            "update",
            R"([{"id":1,"title":"look","status":"done"},)"
            R"({"id":2,"title":"leap\u001b[31m","status":"in_progress"},)"
            R"({"id":3,"title":"land","status":"pending"},)"
            R"({"id":4,"title":"rest","status":"dropped"}])"}) ==
        "[PLAN] 1 of 4 done\n"
        "    ✓ look\n"
        "    ▸ leap^[[31m\n"
        "    · land\n"
        "    ✗ rest\n");
  CHECK(on(events::plan_updated{
            "complete", R"([{"id":1,"title":"look","status":"done"},)"
                        R"({"id":2,"title":"leap\u001b[31m","status":"done"},)"
                        R"({"id":3,"title":"land","status":"in_progress"},)"
                        R"({"id":5,"title":"sleep","status":"pending"},)"
                        R"({"id":4,"title":"rest","status":"dropped"}])"}) ==
        "[PLAN] 2 of 5 done\n"
        "    ✓ leap^[[31m\n"
        "    ▸ land\n"
        "    · sleep\n");
  // What changes nothing is not said again.
  CHECK(on(events::plan_updated{
               "list", R"([{"id":1,"title":"look","status":"done"},)"
                       R"({"id":2,"title":"leap\u001b[31m","status":"done"},)"
                       R"({"id":3,"title":"land","status":"in_progress"},)"
                       R"({"id":5,"title":"sleep","status":"pending"},)"
                       R"({"id":4,"title":"rest","status":"dropped"}])"})
            .empty());
  // The call that did it says nothing more.
  on(a_call("manage_plan"));
  CHECK(on(its_result(outcome::ok)).empty());
  plan_feed verbose{verbosity::verbose};
  CHECK(verbose(a_call("manage_plan")).empty());
  CHECK(verbose(its_result(outcome::ok)).empty());
  on(a_call("manage_plan"));
  CHECK(on(its_result(outcome::failed)).starts_with("[TOOL] manage_plan"));
  CHECK(on(events::plan_updated{"create", "[]"}) == "[PLAN] no steps\n");
  CHECK(on(events::plan_updated{"x", "7"}) == "[PLAN] no steps\n");
  plan_feed quiet{verbosity::quiet};
  CHECK(quiet(events::plan_updated{"create", "[]"}).empty());
}

TEST_CASE("of a long plan the steps that are over give way") {
  std::string plan;
  for (int i = 1; i <= 40; ++i)
    plan += (i > 1 ? ",{\"title\":\"s" : "[{\"title\":\"s") +
            std::to_string(i) + "\",\"status\":\"" +
            (i <= 10 ? "done" : "pending") + "\"}";
  plan_feed on;
  const auto text = on(events::plan_updated{"update", plan + "]"});
  CHECK(
      text.starts_with("[PLAN] 10 of 40 done\n    … 10 before\n"
                       "    · s11\n"));
  CHECK(text.ends_with("    · s26\n    … 14 more\n"));
}

TEST_CASE("why a plan was not changed is told without its tool, and advice") {
  told_run on;
  const auto says = [&](const std::string& why) {
    auto call = made_call("manage_plan", R"({"action":"complete","id":1})");
    call.title = "Updating the plan";
    on(call);
    auto end = its_end(outcome::failed, 0);
    end.tool = call.tool;
    end.err = error{errc::invalid_arguments,
                    "manage_plan",
                    "manage_plan: " + why,
                    false,
                    {}};
    return on(end);
  };
  CHECK(says("there is no step 1; there is no plan yet; `create` makes one") ==
        "[TOOL] manage_plan: Updating the plan ✗ there is no step 1; there is "
        "no plan yet — 0.0s\n");
  CHECK(says("there is no step 7; the plan has the steps 1, 2") ==
        "[TOOL] manage_plan: Updating the plan ✗ there is no step 7 — 0.0s\n");
  CHECK(says("a step needs a title; say what is to be done") ==
        "[TOOL] manage_plan: Updating the plan ✗ a step needs a title — "
        "0.0s\n");
}

TEST_CASE("what another tool says like a plan's advice is told") {
  told_run on;
  for (const std::string why :
       {"no such host; say which", "no space; `create` makes some",
        "not now; the plan has the steps 1, 2"}) {
    CAPTURE(why);
    on(made_call("docs__find", "{}"));
    auto end = its_end(outcome::failed, 0);
    end.tool = "docs__find";
    end.err = error{errc::tool_execution_error, "docs__find", why, false, {}};
    CHECK(on(end).find("✗ " + why) != std::string::npos);
  }
}
