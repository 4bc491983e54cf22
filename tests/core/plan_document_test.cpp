// SPDX-License-Identifier: MIT
#include "actors/core/plan_document.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "actors/core/plan_references.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::core;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

std::string check_call(const std::string& tool, const std::string* arguments) {
  if (tool != "read" && tool != "bash") return "no tool `" + tool + "`";
  if (arguments != nullptr && json::parse(*arguments).contains("wrong"))
    return "wrong";
  return {};
}

read_plan read(const json& root) {
  return read_plan_document(root, check_call);
}

/// All mistakes, each as "pointer: text".
std::vector<std::string> mistakes(const json& root) {
  std::vector<std::string> out;
  for (const auto& x : read(root).mistakes)
    out.push_back(x.pointer + ": " + x.text);
  return out;
}

json step(const std::string& id, const std::string& instruction = "do it") {
  return {{"id", id}, {"instruction", instruction}};
}

json plan(std::vector<json> steps) { return {{"steps", std::move(steps)}}; }

bool has(const std::vector<std::string>& all, const std::string& part) {
  return std::ranges::any_of(
      all, [&](const auto& x) { return x.find(part) != std::string::npos; });
}

/// One mistake, which says this.
void check_only(const json& root, const std::string& part) {
  const auto found = mistakes(root);
  CAPTURE(found, part);
  REQUIRE(found.size() == 1);
  CHECK(has(found, part));
}

}  // namespace

TEST_CASE("a whole plan is read with all its keys") {
  const auto x = read(json::parse(R"({
    "timeout": "10m", "require_streaming": true,
    "steps": [
      {"id": "log", "tool": "bash", "arguments": {"command": "git log"},
       "on_error": "continue", "timeout": "30s"},
      {"instruction": "Sum up:\n{{steps.log.output}}", "on_error": "retry",
       "depends_on": ["log"]},
      {"id": "end", "tool": "read",
       "arguments": {"path": "a", "n": [1, {"x": "{{ steps.2.output }}"}]}}
    ]})"));
  CHECK(x.mistakes.empty());
  REQUIRE(x.plan.steps.size() == 3);
  CHECK(x.plan.timeout == 10min);
  CHECK(x.plan.require_streaming);
  const auto& [log, sum, end] =
      std::tie(x.plan.steps[0], x.plan.steps[1], x.plan.steps[2]);
  CHECK(log.id == "log");
  CHECK(log.tool == "bash");
  CHECK(log.arguments == R"({"command":"git log"})");
  CHECK(log.on_error == step_policy::go_on);
  CHECK(log.timeout == 30s);
  CHECK(sum.id == "2");  // its place
  CHECK(sum.on_error == step_policy::retry);
  CHECK(sum.depends_on == std::vector<std::size_t>{0});
  CHECK(sum.refers_to == std::vector<std::size_t>{0});
  CHECK(end.refers_to == std::vector<std::size_t>{1});
}

TEST_CASE("a plan's defaults") {
  const auto x = read(plan({step("a")}));
  CHECK(x.mistakes.empty());
  CHECK(x.plan == plan_document{{planned_step{"a", "do it"}}});
  CHECK(x.plan.steps[0].on_error == step_policy::stop);
}

TEST_CASE("each mistake of a plan is told with its place") {
  check_only(json::array(), ": a plan is a table");
  check_only(json::object(), "/steps: the plan has no steps");
  check_only(plan({}), "/steps: the plan has no steps");
  check_only({{"steps", 7}}, "/steps: must be a list");
  check_only(plan({7}), "/steps/0: a step must be a table");
  auto x = plan({step("a")});
  x["title"] = "t";
  check_only(x, "/title: unknown key; there are: steps, timeout");
  x = plan({step("a")});
  x["timeout"] = 30;
  check_only(x, "/timeout: must be a length of time");
  x = plan({step("a")});
  x["require_streaming"] = "yes";
  check_only(x, "/require_streaming: must be true or false");

  const auto with = [](const char* key, json value) {
    auto one = step("a");
    one[key] = std::move(value);
    return plan({one});
  };
  check_only(with("agent", "x"), "/steps/0/agent: unknown key; there are: id");
  check_only(with("id", "a b"), "/steps/0/id: must be letters");
  check_only(with("id", std::string(65, 'a')), "/steps/0/id: must be letters");
  check_only(with("instruction", 7), "/steps/0/instruction: must be a text");
  check_only(with("instruction", " \n"), "/steps/0/instruction: is empty");
  check_only(with("tool", "read"), "/steps/0: has an instruction and a tool");
  check_only(with("timeout", "soon"), "/steps/0/timeout: must be a length");
  check_only(with("on_error", "ignore"), "/steps/0/on_error: must be \"stop\"");
  check_only(with("on_error", 1), "/steps/0/on_error: must be \"stop\"");
  check_only(with("depends_on", "a"), "/steps/0/depends_on: must be a list");
  check_only(with("depends_on", json{7}), "/steps/0/depends_on/0: must be the");
  check_only(with("depends_on", json{"b"}),
             "/steps/0/depends_on/0: depends on step \"b\", and there is none");
  check_only(with("depends_on", json{"a"}), "which is this very step");
  check_only(with("arguments", json::object()), "are for a tool");
  check_only(plan({{{"id", "a"}}}), "/steps/0: needs an instruction or a tool");
  check_only(plan({{{"tool", ""}}}), "/steps/0/tool: is empty");
  check_only(plan({{{"tool", "reed"}}}), "/steps/0/tool: no tool `reed`");
  check_only(plan({{{"tool", "read"}, {"arguments", "x"}}}),
             "/steps/0/arguments: must be a table");
  check_only(plan({{{"tool", "read"}, {"arguments", {{"wrong", 1}}}}}),
             "/steps/0/arguments: wrong");
  check_only(plan({step("a"), step("a")}),
             "/steps/1/id: step 1 has the id \"a\" already");
  check_only(plan({step("2"), {{"instruction", "x"}}}),
             "/steps/1: step 1 has the id \"2\" already");
}

TEST_CASE("references of a plan lead to earlier steps") {
  const auto second = [](const std::string& text) {
    return plan({step("a"), step("b", text), step("c")});
  };
  CHECK(mistakes(second("{{steps.a.output}}")).empty());
  CHECK(mistakes(second("{{ other }} {{ x.y }} {{")).empty());
  check_only(second("{{steps.x.output}}"),
             "/steps/1/instruction: refers to step \"x\", and there is none");
  check_only(second("{{steps.b.output}}"), "which is this very step");
  check_only(second("{{steps.c.output}}"), "which comes later");
  check_only(second("{{steps.a}}"), "is no reference; write");
  check_only(second("{{steps.a.result}}"), "is no reference; write");
  check_only(plan({step("a"),
                   {{"tool", "read"},
                    {"arguments", {{"x", {1, "{{steps.q.output}}"}}}}}}),
             "/steps/1/arguments/x/1: refers to step \"q\"");
}

TEST_CASE("steps that depend on each other are told as a cycle") {
  auto a = step("a");
  auto b = step("b");
  auto c = step("c");
  a["depends_on"] = {"c"};
  b["depends_on"] = {"a"};
  c["depends_on"] = {"b"};
  const auto found = mistakes(plan({a, b, c}));
  CAPTURE(found);
  CHECK(
      has(found, "/steps/0/depends_on/0: depends on step \"c\", which comes"));
  CHECK(has(found, "in a cycle: \"a\" → \"c\" → \"b\" → \"a\""));
  c.erase("depends_on");
  CHECK_FALSE(has(mistakes(plan({a, b, c})), "cycle"));
}

TEST_CASE("of very many mistakes and cycles some are told, shortly") {
  constexpr int many = 300;
  json names = json::array();
  for (int i = 0; i < many; ++i) names.push_back("s" + std::to_string(i));
  std::vector<json> steps;
  for (int i = 0; i < many; ++i) {
    auto x = step(names[static_cast<std::size_t>(i)]);
    x["depends_on"] = names;
    steps.push_back(x);
  }
  const auto found = mistakes(plan(steps));
  CHECK(found.size() == 1'001);
  CHECK(has(found, "has more mistakes: mend these first"));
  // A cycle alone, whose text would name all of them.
  for (int i = 0; i < many; ++i)
    steps[static_cast<std::size_t>(i)]["depends_on"] = {
        names[static_cast<std::size_t>((i + 1) % many)]};
  std::size_t cycles = 0;
  for (const auto& x : mistakes(plan(steps))) {
    if (x.find("in a cycle") == std::string::npos) continue;
    ++cycles;
    CHECK(x.find("… (290 more) → \"s29") != std::string::npos);
    CHECK(x.size() < 300);
  }
  CHECK(cycles == 1);
}

TEST_CASE("all mistakes of a plan are told at once") {
  auto x = plan({{{"id", "a"}, {"tool", "reed"}, {"on_error", "no"}},
                 {{"id", "a"}, {"instruction", "{{steps.z.output}}"}}});
  x["colour"] = 1;
  CHECK(mistakes(x).size() == 5);
}

TEST_CASE("outputs stand in a step as they are") {
  const auto x =
      read(plan({step("a"),
                 step("b", "<{{steps.a.output}}|{{ steps.a.output }}>{{no}}"),
                 {{"id", "c"},
                  {"tool", "read"},
                  {"arguments",
                   {{"p", "{{steps.a.output}}"},
                    {"q", {1, true, "{{steps.b.output}}"}}}}}}));
  REQUIRE(x.mistakes.empty());
  const std::vector<std::string> all{"\"line\"\n{{steps.b.output}}", "B"};
  const auto outputs = [&](std::size_t i) -> const std::string& {
    return all.at(i);
  };
  // What an output holds is text, never a reference.
  CHECK(fill_in_instruction(x.plan, 1, outputs) ==
        "<" + all[0] + "|" + all[0] + ">{{no}}");
  CHECK(json::parse(*fill_in_arguments(x.plan, 2, outputs)) ==
        json{{"p", all[0]}, {"q", {1, true, "B"}}});
}

TEST_CASE("references that make a text too long are refused") {
  const auto x = read(
      plan({step("a"),
            step("b", "{{steps.a.output}}!"),
            {{"tool", "read"},
             {"arguments",
              {{"p", "{{steps.a.output}}"}, {"q", "{{steps.a.output}}"}}}}}));
  REQUIRE(x.mistakes.empty());
  std::string output(longest_step_text, 'x');
  const auto outputs = [&](std::size_t) -> const std::string& {
    return output;
  };
  REQUIRE_FALSE(fill_in_instruction(x.plan, 1, outputs));
  CHECK(fill_in_instruction(x.plan, 1, outputs).error().find("32 MiB") !=
        std::string::npos);
  CHECK_FALSE(fill_in_arguments(x.plan, 2, outputs));
  output.pop_back();
  CHECK(fill_in_instruction(x.plan, 1, outputs)->size() == longest_step_text);
}

TEST_CASE("a plan of 10,000 steps is read in time that follows its length") {
  const auto chain = [](int n) {
    std::vector<json> steps;
    for (int i = 0; i < n; ++i) {
      auto one = step("s" + std::to_string(i));
      if (i > 0) {
        one["instruction"] = "{{steps.s" + std::to_string(i - 1) + ".output}}";
        one["depends_on"] = {"s" + std::to_string(i - 1)};
      }
      steps.push_back(std::move(one));
    }
    return plan(std::move(steps));
  };
  const auto took = [&](int n) {
    const auto root = chain(n);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(read(root).mistakes.empty());
    return std::chrono::steady_clock::now() - begin;
  };
  took(100);
  const auto small = took(1000);
  CHECK(took(10'000) < small * 60 + 50ms);
  CHECK(mistakes(chain(static_cast<int>(most_plan_steps) + 1)).size() == 1);
}

TEST_CASE("a plan may say that its texts are no references") {
  auto root =
      plan({{{"id", "call"},
             {"tool", "read"},
             {"arguments", {{"path", "{{steps.call.output}} {{steps."}}}}});
  CHECK_FALSE(mistakes(root).empty());
  root["references"] = false;
  const auto x = read(root);
  REQUIRE(x.mistakes.empty());
  CHECK(x.plan.steps[0].refers_to.empty());
  const std::string none;
  const auto filled = fill_in_arguments(
      x.plan, 0, [&](std::size_t) -> const std::string& { return none; });
  REQUIRE(filled);
  CHECK(json::parse(*filled).at("path") == "{{steps.call.output}} {{steps.");
  root["references"] = "no";
  root["steps"][0]["arguments"]["path"] = "a";
  check_only(root, "/references: must be true or false");
}
