// SPDX-License-Identifier: MIT
// Each call and its result stay a pair, as each dialect tells them, whatever
// goes to make room.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "actors/run/conversation.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using nlohmann::json;

namespace {

/// A call or a result: whose, its tool's name, and what it says; empty where
/// the dialect does not tell it.
struct told_one {
  std::string id;
  std::string tool;
  std::string text;
};

struct told_step {
  std::vector<told_one> calls;
  std::vector<told_one> results;
};

using told_steps = std::vector<told_step>;

/// Results belong to the calls right before them.
void add_result(told_steps& out, told_one x) {
  REQUIRE_FALSE(out.empty());
  out.back().results.push_back(std::move(x));
}

void add_message(told_steps& out, const json& x) {
  if (x.contains("tool_calls")) {
    auto& step = out.emplace_back();
    for (const auto& call : x["tool_calls"])
      step.calls.push_back(
          {call.value("id", ""), call.at("function").at("name"),
           call.at("function").at("arguments").is_string() ? "text"
                                                           : "object"});
  }
  if (x.at("role") == "tool")
    add_result(out, {x.value("tool_call_id", ""), x.value("tool_name", ""),
                     x.at("content")});
}

void add_blocks(told_steps& out, const json& x) {
  bool begun = false;
  for (const auto& block : x.at("content")) {
    if (block.at("type") == "tool_use") {
      if (!std::exchange(begun, true)) out.emplace_back();
      out.back().calls.push_back({block.at("id"), block.at("name"), "object"});
    }
    if (block.at("type") == "tool_result")
      add_result(out, {block.at("tool_use_id"), "", block.at("content")});
  }
}

void add_item(told_steps& out, const json& x) {
  const auto type = x.value("type", "message");
  if (type == "function_call") {
    if (out.empty() || !out.back().results.empty()) out.emplace_back();
    out.back().calls.push_back({x.at("call_id"), x.at("name"), "text"});
  }
  if (type == "function_call_output")
    add_result(out, {x.at("call_id"), "", x.at("output")});
}

told_steps steps_of(const std::string& dialect, const json& body) {
  told_steps out;
  if (dialect == "responses") {
    for (const auto& x : body.at("input")) add_item(out, x);
    return out;
  }
  for (const auto& x : body.at("messages"))
    dialect == "anthropic" ? add_blocks(out, x) : add_message(out, x);
  return out;
}

constexpr int all_steps = 6;

/// Six steps of two calls each, which settle in the other order. `after`:
/// what is done after each one.
conversation with_calls(const std::string& dialect, std::uint64_t window,
                        const std::function<void(conversation&)>& after) {
  conversation::settings s;
  s.dialect = model::make_dialect(dialect);
  s.request.model = "m";
  s.window = window;
  conversation x{std::move(s)};
  x.say_system("be good");
  x.say_user("go");
  for (int i = 0; i < all_steps; ++i) {
    std::vector<call_id> calls;
    for (const char* tool : {"look", "find"})
      calls.push_back(call_id{tool + std::to_string(i)});
    core::new_message turn;
    turn.from_model = true;
    turn.calls = calls;
    x.say_model(turn);
    for (const auto n : {1u, 0u}) {
      storage::call_record call;
      call.call.id = calls[n];
      call.call.tool = n == 0 ? "look" : "find";
      // As one provider makes them: they are no names for all others.
      call.call.provider_id =
          "functions." + call.call.tool + ":" + std::to_string(i);
      call.call.arguments = "{}";
      call.told = call.call.tool + " " + std::to_string(i) + " " +
                  std::string(4000, 'x');
      x.settle(std::move(call));
    }
    after(x);
  }
  return x;
}

/// Each result follows its call, in the calls' order; the first `gone` results
/// are notes that name their tool.
void check_pairs(const std::string& dialect, const conversation& x,
                 std::size_t gone) {
  const auto body = json::parse(x.request({}));
  const auto steps = steps_of(dialect, body);
  REQUIRE(steps.size() == all_steps);
  std::size_t seen = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto n = std::to_string(i);
    REQUIRE(steps[i].calls.size() == 2);
    REQUIRE(steps[i].results.size() == 2);
    for (std::size_t k = 0; k < 2; ++k) {
      const auto& call = steps[i].calls[k];
      const auto& result = steps[i].results[k];
      const std::string tool = k == 0 ? "look" : "find";
      CAPTURE(dialect, i, k);
      CHECK(call.tool == tool);
      CHECK(call.id == result.id);
      CHECK(call.id.empty() == (dialect == "ollama"));
      if (dialect == "openai") CHECK(call.id == "functions." + tool + ":" + n);
      if (dialect == "ollama") CHECK(result.tool == tool);
      const auto begin =
          seen++ < gone ? "[The output of " + tool : tool + " " + n + " xxx";
      CHECK(result.text.substr(0, begin.size()) == begin);
    }
  }
}

}  // namespace

TEST_CASE("trimming keeps calls and results paired in each dialect") {
  for (const auto* name : {"openai", "anthropic", "responses", "ollama"}) {
    INFO(name);
    std::size_t gone = 0;
    auto x = with_calls(name, 1'000'000,
                        [&](conversation& c) { gone += c.compact().outputs; });
    check_pairs(name, x, 0);
    CHECK(gone == 0);
    CHECK(x.make_room().outputs == 2 * (all_steps - 1));
    check_pairs(name, x, 2 * (all_steps - 1));
    const auto body = json::parse(x.request({}));
    CHECK(body.dump().size() < 14'000);  // of the newest step all is there
    CHECK(body.dump().size() > 8'000);
    if (std::string_view{name} != "anthropic") continue;
    const auto& all = body.at("messages");
    REQUIRE(all.size() == 1 + 2 * all_steps);
    for (std::size_t i = 2; i < all.size(); i += 2)
      CHECK(all[i].at("content")[1].contains("cache_control") == (i >= 10));
  }
}

TEST_CASE("compaction keeps calls and results paired in each dialect") {
  for (const auto* name : {"openai", "anthropic", "responses", "ollama"}) {
    INFO(name);
    std::size_t gone = 0;
    bool between = false;
    const auto x = with_calls(name, 9'000, [&](conversation& c) {
      gone += c.compact().outputs;
      between = between || gone % 2 == 1;
    });
    CHECK(between);  // of one step one result went, and one stayed
    CHECK(gone > 4);
    CHECK(gone < 2 * (all_steps - 1));
    check_pairs(name, x, gone);
  }
}
