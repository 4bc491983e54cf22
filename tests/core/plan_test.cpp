// SPDX-License-Identifier: MIT
#include "actors/core/plan.hpp"

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::core;
using nlohmann::json;

namespace {

struct session {
  /// The plan as the model reads it, or why it did not change.
  std::string edit(const json& arguments) {
    auto done = edit_plan(arguments.dump(), plan);
    if (!done) {
      CHECK(done.error().code == errc::invalid_arguments);
      return done.error().message;
    }
    if (done->plan) plan = *done->plan;
    return done->text;
  }

  std::string plan;
};

session with_three() {
  session s;
  s.edit({{"action", "create"}, {"steps", {"look", "leap", "land"}}});
  return s;
}

}  // namespace

TEST_CASE("a plan is created, extended, changed, completed and listed") {
  session s;
  CHECK(s.edit({{"action", "list"}}) == "There is no plan.");
  CHECK(s.plan.empty());
  CHECK(s.edit({{"action", "create"}, {"steps", {"look", "leap"}}}) ==
        "1. [pending] look\n2. [pending] leap\n");
  CHECK(s.edit({{"action", "add"}, {"steps", {"land"}}}) ==
        "1. [pending] look\n2. [pending] leap\n3. [pending] land\n");
  CHECK(s.edit({{"action", "complete"}, {"id", 1}}) ==
        "1. [done] look\n2. [pending] leap\n3. [pending] land\n");
  CHECK(s.edit({{"action", "update"},
                {"id", 2},
                {"status", "in_progress"},
                {"title", " leap\nfar "}}) ==
        "1. [done] look\n2. [in_progress] leap far\n3. [pending] land\n");
  CHECK(json::parse(s.plan) ==
        json::parse(R"([{"id":1,"title":"look","status":"done"},
                        {"id":2,"title":"leap far","status":"in_progress"},
                        {"id":3,"title":"land","status":"pending"}])"));
}

TEST_CASE("ids stay when steps are put between") {
  auto s = with_three();
  CHECK(s.edit({{"action", "add"}, {"id", 1}, {"steps", {"think", "rest"}}}) ==
        "1. [pending] look\n4. [pending] think\n5. [pending] rest\n"
        "2. [pending] leap\n3. [pending] land\n");
  CHECK(s.edit({{"action", "complete"}, {"id", 5}}).find("5. [done] rest") !=
        std::string::npos);
}

TEST_CASE("only a change makes a new plan") {
  const auto s = with_three();
  CHECK(edit_plan(R"({"action":"update","id":1,"status":"done"})", s.plan)
            ->plan.has_value());
  const auto list = edit_plan(R"({"action":"list"})", s.plan);
  REQUIRE(list);
  CHECK_FALSE(list->plan);
  CHECK(list->text ==
        "1. [pending] look\n2. [pending] leap\n"
        "3. [pending] land\n");
}

TEST_CASE("what cannot be done changes nothing and says what would work") {
  auto s = with_three();
  const auto before = s.plan;
  const auto because = [&](const json& arguments) { return s.edit(arguments); };
  CHECK(because({{"action", "complete"}, {"id", 9}}) ==
        "manage_plan: there is no step 9; the plan has the steps 1, 2, 3");
  CHECK(because({{"action", "complete"}}) ==
        "manage_plan: `complete` needs `id`; the plan has the steps 1, 2, 3");
  CHECK(because({{"action", "update"}, {"id", 1}}) ==
        "manage_plan: `update` needs a new `title` or a new `status`");
  CHECK(because({{"action", "create"}}).find("needs `steps`") !=
        std::string::npos);
  CHECK(because({{"action", "create"}, {"steps", json::array()}})
            .find("not empty") != std::string::npos);
  CHECK(because({{"action", "add"}, {"id", 7}, {"steps", {"x"}}})
            .find("there is no step 7") != std::string::npos);
  CHECK(because({{"action", "add"}, {"steps", {"  "}}}).find("title") !=
        std::string::npos);
  CHECK(s.plan == before);
  session none;
  CHECK(none.edit({{"action", "complete"}, {"id", 1}})
            .find("`create` makes one") != std::string::npos);
}

TEST_CASE("a plan has limits") {
  session s;
  const std::vector<std::string> many(max_plan_steps, "x");
  CHECK(s.edit({{"action", "create"}, {"steps", many}}).size() > 64);
  CHECK(s.edit({{"action", "add"}, {"steps", {"one more"}}})
            .find("at most 64 steps") != std::string::npos);
  std::string wide;
  for (std::size_t i = 0; i < max_plan_title; ++i) wide += "ä";
  CHECK(s.edit({{"action", "update"}, {"id", 1}, {"title", wide}}).size() >
        600);
  CHECK(s.edit({{"action", "update"}, {"id", 1}, {"title", wide + "ä"}})
            .find("at most 300 characters") != std::string::npos);
}

TEST_CASE("the plan of an earlier version is read too") {
  session s{R"([{"title":"a","status":"done"},{"title":"b"}])"};
  CHECK(s.edit({{"action", "list"}}) == "1. [done] a\n2. [pending] b\n");
  CHECK(s.edit({{"action", "complete"}, {"id", 2}}) ==
        "1. [done] a\n2. [done] b\n");
}

TEST_CASE("the note for the model has the plan, and is no word of the user") {
  CHECK(plan_note("").empty());
  CHECK(plan_note("[]").empty());
  auto s = with_three();
  s.edit({{"action", "complete"}, {"id", 1}});
  const auto note = plan_note(s.plan);
  CHECK(note.starts_with("[Note of the runtime] "));
  CHECK(note.find("2 open") != std::string::npos);
  CHECK(note.find("1. [done] look\n2. [pending] leap\n") != std::string::npos);
}
