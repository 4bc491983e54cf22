// SPDX-License-Identifier: MIT
// The strict contract of plans: its eight tests that must pass, by their
// names, and its edge cases.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <nlohmann/json.hpp>

#include "runtime/api/plans.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

using clock = std::chrono::steady_clock;

/// One step, in braces, is a list of one.
json list(const json& x) { return x.is_array() ? x : json::array({x}); }

/// What the tool `wait` waits for.
struct gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;

  void let_go() {
    const std::lock_guard lock{mutex};
    open = true;
    changed.notify_all();
  }
};

tools::tool_spec about(const char* name) {
  tools::tool_spec x;
  x.name = name;
  x.description = "for tests";
  x.parameters = R"({"type":"object"})";
  x.eff = effect::mutating;
  return x;
}

struct scene {
  explicit scene(const std::string& script = "[[steps]]\ntext = \"Said.\"\n") {
    config::config config;
    config.runtime.log.level = "off";
    config.models["default"].dialect = "scripted";
    config.agents["default"].tools = {"note"};
    config.tools.defaults.approval = "allow";
    config.tools.defaults.output_limit = 64u << 20;
    runtime_options options;
    const auto note = [this](const json& x) -> tools::tool_output {
      const std::lock_guard lock{mutex};
      noted.push_back(x.dump());
      if (x.contains("ms"))
        std::this_thread::sleep_for(std::chrono::milliseconds{x.at("ms")});
      if (x.contains("fail"))
        return {"half", error{errc::tool_execution_error, "t", "it broke"}, {}};
      if (x.contains("size"))
        return {std::string(x["size"].get<std::size_t>(), 'x'), {}, {}};
      return {"noted " + x.value("text", ""), {}, {}};
    };
    options.tools = {
        make_tool(
            about("note"),
            [note](const json& x, tools::tool_context&) { return note(x); }),
        make_tool(about("wait"), [this](const json&, tools::tool_context& c) {
          std::unique_lock lock{door.mutex};
          while (!door.open && !c.stop.stop_requested())
            door.changed.wait_for(lock, 5ms);
          return tools::tool_output{"waited", {}, {}};
        })};
    options.journal = storage::make_memory_journal();
    options.scripts["default"] = script;
    auto made = runtime::create(std::move(config), std::move(options));
    REQUIRE(made);
    rt.emplace(std::move(*made));
  }

  expected<plan_stream> start(const json& steps, json more = json::object()) {
    more["steps"] = list(steps);
    plan_request x{more.dump(), "plan.json", {}};
    x.with.approval = approve::all;
    x.with.stop = stop.get_token();
    return execute_plan(*rt, std::move(x));
  }

  std::vector<plan_chunk> play(const json& steps, json more = json::object()) {
    auto stream = start(steps, std::move(more));
    REQUIRE(stream);
    return rest(*stream);
  }

  static std::vector<plan_chunk> rest(plan_stream& stream) {
    std::vector<plan_chunk> out;
    while (auto chunk = stream.next(testing::scaled(30s)))
      out.push_back(std::move(*chunk));
    CHECK(stream.ended());
    return out;
  }

  std::mutex mutex;
  std::vector<std::string> noted;
  gate door;
  std::stop_source stop;
  std::optional<runtime> rt;
};

json say(const std::string& id, const std::string& text = "Say it.") {
  return {{"id", id}, {"instruction", text}};
}

json note(const std::string& id, const std::string& text) {
  return {{"id", id}, {"tool", "note"}, {"arguments", {{"text", text}}}};
}

std::string content_of(const std::vector<plan_chunk>& all, std::uint32_t step) {
  std::string out;
  for (const auto& x : all)
    if (x.step == step) out += x.content;
  return out;
}

}  // namespace

// -- must pass ----------------------------------------------------------------

TEST_CASE("Basic Execution") {
  scene x;
  auto stream = x.start({say("a"), say("b")});
  REQUIRE(stream);
  const auto all = scene::rest(*stream);
  CHECK(all.size() >= 5);
  CHECK(stream->ended());
  CHECK_FALSE(stream->next(1s));
}

TEST_CASE("Step Execution") {
  scene x;
  const auto all = x.play({say("a"), note("b", "n"), say("c")});
  std::vector<std::string> ids;
  for (const auto& chunk : all)
    if (chunk.step > 0 && (ids.empty() || ids.back() != chunk.step_id))
      ids.push_back(chunk.step_id);
  CHECK(ids == std::vector<std::string>{"a", "b", "c"});
  CHECK(content_of(all, 1) == "Said.");
  CHECK(content_of(all, 3) == "Said.");
  for (const auto& chunk : all) CHECK(chunk.at.us > 0);
}

TEST_CASE("Tool Execution") {
  scene x{R"(
[[steps]]
calls = [{ tool = "note", arguments = { text = "agent" } }]
[[steps]]
text = "Done."
)"};
  auto first = note("a", "direct");
  first["arguments"]["ms"] = 20;
  const auto begin = clock::now();
  const auto all = x.play({first, say("b")});
  std::vector<plan_tool_result> tools;
  for (const auto& chunk : all)
    if (chunk.tool) tools.push_back(*chunk.tool);
  REQUIRE(tools.size() == 2);
  CHECK(tools[0].tool == "note");
  CHECK(json::parse(tools[0].input) == first["arguments"]);
  CHECK(tools[0].output == "noted direct");
  CHECK(tools[0].took >= 20ms);
  CHECK(tools[0].took <= clock::now() - begin);
  CHECK_FALSE(tools[0].failure);
  CHECK(json::parse(tools[1].input) == json{{"text", "agent"}});
}

TEST_CASE("Final Answer") {
  scene x;
  const auto all = x.play({note("a", "n"), say("b")});
  for (std::size_t i = 0; i + 1 < all.size(); ++i)
    CHECK_FALSE(all[i].is_last());
  REQUIRE(all.back().final_answer);
  CHECK(*all.back().final_answer == "Said.");
  CHECK_FALSE(all.back().failure);
}

TEST_CASE("Error Handling") {
  scene x{"[[steps]]\nerror = { status = 400, message = \"no\" }\n"};
  const auto tool =
      x.play({{{"id", "a"}, {"tool", "note"}, {"arguments", {{"fail", 1}}}},
              say("b")});
  REQUIRE(tool.back().failure);
  CHECK(tool.back().failure->code == errc::tool_execution_error);
  CHECK(tool.back().failure->op == "plan");
  CHECK(tool.back().failure->message.find("it broke") != std::string::npos);
  CHECK_FALSE(tool.back().final_answer);
  for (const auto& chunk : tool) CHECK(chunk.step <= 1);
  const auto agent = x.play({say("a")});
  REQUIRE(agent.back().failure);
  CHECK(agent.back().failure->code == errc::step_execution_error);
}

TEST_CASE("Context Cancellation") {
  scene x;
  auto stream = x.start({{{"id", "a"}, {"tool", "wait"}}, say("b")});
  REQUIRE(stream);
  REQUIRE(stream->next(testing::scaled(10s)));
  x.stop.request_stop();
  const auto all = scene::rest(*stream);
  REQUIRE_FALSE(all.empty());
  REQUIRE(all.back().failure);
  CHECK(all.back().failure->code == errc::stream_interrupted);
  CHECK(stream->ended());
}

TEST_CASE("Sequential Execution") {
  scene x;
  const auto all = x.play({note("a", "1"), note("b", "2"), note("c", "3")});
  CHECK(x.noted == std::vector<std::string>{R"({"text":"1"})",
                                            R"({"text":"2"})",
                                            R"({"text":"3"})"});
  std::uint32_t last = 0;
  for (const auto& chunk : all) {
    if (chunk.step == 0) continue;
    CHECK(chunk.step >= last);
    last = chunk.step;
  }
}

TEST_CASE("Performance") {
  scene x;
  static_cast<void>(x.play({note("warm", "up")}));
  const auto begin = clock::now();
  auto stream = x.start({say("a")});
  REQUIRE(stream);
  REQUIRE(stream->next(testing::scaled(10s)));
  CHECK(clock::now() - begin < testing::scaled(200ms));
  static_cast<void>(scene::rest(*stream));
}

// -- edge cases ---------------------------------------------------------------

TEST_CASE("Edge: an empty plan is invalid_plan, and nothing starts") {
  scene x;
  const auto stream = x.start(json::array());
  REQUIRE_FALSE(stream);
  CHECK(stream.error().code == errc::invalid_plan);
  CHECK(stream.error().message.find("steps") != std::string::npos);
  CHECK(x.rt->sessions()->empty());
}

TEST_CASE("Edge: a plan of one step") {
  scene x;
  const auto all = x.play({note("a", "n")});
  // It is announced, it acts once, and its output is the answer.
  REQUIRE(all.size() == 3);
  CHECK(all[0].step_id == "a");
  REQUIRE(all[1].tool);
  CHECK(all[1].step == 1);
  CHECK(all[2].final_answer == "noted n");
  CHECK(x.noted.size() == 1);
}

TEST_CASE("Edge: a failing first step stops the plan") {
  scene x;
  const auto all =
      x.play({{{"id", "a"}, {"tool", "note"}, {"arguments", {{"fail", 1}}}},
              note("b", "never")});
  REQUIRE(all.back().failure);
  CHECK(all.back().failure->code == errc::tool_execution_error);
  CHECK_FALSE(all.back().final_answer);
  CHECK(x.noted == std::vector<std::string>{R"({"fail":1})"});
  for (const auto& chunk : all) CHECK(chunk.step <= 1);
}

TEST_CASE("Edge: huge content arrives whole where it is referred to") {
  scene x;
  constexpr std::size_t size = 8u << 20;
  const auto all =
      x.play({{{"id", "a"}, {"tool", "note"}, {"arguments", {{"size", size}}}},
              {{"id", "b"},
               {"tool", "note"},
               {"arguments", {{"text", "{{steps.a.output}}"}}}}});
  REQUIRE(all.back().final_answer);
  CHECK(all.back().final_answer->size() == size + 6);
  CHECK(all.back().final_answer->find_first_not_of('x', 6) ==
        std::string::npos);
  // In events it is cut.
  std::size_t tools = 0;
  for (const auto& chunk : all)
    if (chunk.tool) {
      ++tools;
      CHECK(chunk.tool->truncated);
      CHECK(chunk.tool->output.size() == 200);
    }
  CHECK(tools == 2);
}

TEST_CASE("Edge: a plan that is cancelled before its first chunk is closed") {
  scene x;
  x.stop.request_stop();
  auto stream = x.start({note("a", "never"), say("b")});
  REQUIRE(stream);
  const auto all = scene::rest(*stream);
  // Nothing of it began: the one chunk is its end.
  REQUIRE(all.size() == 1);
  CHECK(all[0].step == 0);
  REQUIRE(all[0].failure);
  CHECK(all[0].failure->code == errc::stream_interrupted);
  CHECK_FALSE(all[0].final_answer);
  CHECK(x.noted.empty());
  CHECK(x.rt->sessions()->at(0).last.state == storage::run_state::cancelled);
}
