// SPDX-License-Identifier: MIT
// A conversation as a dialect tells it whose system prompt stands apart and
// whose results are grouped.
#include "actors/run/conversation.hpp"

#include <algorithm>
#include <ctime>
#include <iostream>

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"

using namespace riffle;
using nlohmann::json;

namespace {

conversation claude(std::uint64_t window = 0) {
  conversation::settings x;
  x.dialect = model::make_dialect("anthropic");
  x.request.model = "m";
  x.request.tools = {{"look", "", ""}};
  x.window = window;
  x.maker = "anthropic m";
  return conversation{std::move(x)};
}

core::new_message turn(std::vector<call_id> calls, std::string state = {},
                       std::string maker = "anthropic m") {
  return {true,
          calls.empty() ? "text" : "",
          "",
          std::move(calls),
          {std::move(maker), std::move(state)}};
}

void settle(conversation& x, const std::string& id, const std::string& told) {
  storage::call_record call;
  call.call.id = call_id{id};
  call.call.provider_id = id;
  call.call.tool = "look";
  call.call.arguments = "{}";
  call.told = told;
  x.settle(call);
}

json body_of(const conversation& x, const std::string& note = {}) {
  return json::parse(x.request(note));
}

std::size_t marks_in(const json& x) {
  const auto text = x.dump();
  std::size_t n = 0;
  for (auto at = text.find("cache_control"); at != text.npos;
       at = text.find("cache_control", at + 1))
    ++n;
  return n;
}

}  // namespace

TEST_CASE("results of a turn are one message, and the cache knows the end") {
  auto x = claude();
  x.say_system("be good");
  x.say_user("go");
  CHECK(marks_in(body_of(x)) == 3);
  for (int i = 0; i < 4; ++i) {
    const auto n = std::to_string(i);
    x.say_model(turn({call_id{"a" + n}, call_id{"b" + n}}));
    settle(x, "b" + n, "two");
    settle(x, "a" + n, "one");
    x.compact();
  }
  const auto body = body_of(x, "the plan");
  CHECK(body.at("system").at(0).at("text") == "be good");
  const auto& all = body.at("messages");
  REQUIRE(all.size() == 10);
  for (std::size_t i = 2; i < 9; i += 2) {
    const auto& results = all[i].at("content");
    REQUIRE(results.size() == 2);
    CHECK(results[0].at("content") == "one");
    CHECK(results[1].contains("cache_control") == (i >= 6));
  }
  CHECK(marks_in(body) == 4);
  CHECK(all[9].at("content").at(0).at("text") == "the plan");
}

TEST_CASE("where no user may speak behind results, the model does before") {
  model::quirks odd;
  odd.results_show_files = GENERATE(true, false);
  conversation::settings s;
  s.dialect = model::make_dialect("openai", odd);
  s.request.model = "m";
  conversation x{std::move(s)};
  x.say_user("go");
  x.say_model(turn({call_id{"a"}}));
  settle(x, "a", "one");
  x.compact();
  const auto roles = [&](const std::string& note) {
    std::string out;
    const auto body = body_of(x, note);
    for (const auto& m : body.at("messages"))
      out += m.at("role").get<std::string>() + " ";
    return out;
  };
  const std::string between = odd.results_show_files ? "assistant " : "";
  CHECK(roles({}) == "user assistant tool ");
  CHECK(roles("the plan") == "user assistant tool " + between + "user ");
  const auto before = x.request({});
  x.say_user("you repeat yourself");
  CHECK(roles("the plan") == "user assistant tool " + between + "user user ");
  CHECK(x.request({}).starts_with(before.substr(0, before.size() - 2)));
}

TEST_CASE("state goes to its maker only, and a paused turn stays the last") {
  const std::string state = R"([{"type":"server_tool_use","id":"s"}])";
  auto x = claude();
  x.say_user("go");
  auto paused = turn({}, state);
  paused.text.clear();
  x.say_model(paused);
  x.compact();
  const auto body = body_of(x, "the plan");
  CHECK(body.at("messages").size() == 2);
  CHECK(body.at("messages")[1].at("content")[0].at("id") == "s");
  auto other = claude();
  other.say_user("go");
  other.say_model(turn({}, state, "anthropic other"));
  other.compact();
  CHECK(body_of(other).at("messages")[1].at("content")[0].at("text") == "text");
}

TEST_CASE("a turn costs the same however many came before, in each dialect") {
  const std::string state =
      R"([{"type":"thinking","thinking":"hm","signature":"s"},)"
      R"({"call":0,"more":{}}])";
  for (const auto* name : {"openai", "anthropic", "responses", "ollama"}) {
    INFO(name);
    std::size_t size = 0;
    const auto time = [&](int turns) {
      const auto began = std::clock();
      conversation::settings s;
      s.dialect = model::make_dialect(name);
      s.request.model = "m";
      s.window = 1'000'000'000;
      s.maker = "me";
      conversation x{std::move(s)};
      x.say_system("be good");
      for (int i = 0; i < turns; ++i) {
        const auto id = "c" + std::to_string(i);
        if (i % 10 == 0) x.say_user("go");
        x.say_model(turn({call_id{id}}, state, "me"));
        settle(x, id, "a result");
        x.compact();
      }
      size = x.request("").size();
      return std::clock() - began;
    };
    // The process's own time, the best of three: other work only adds.
    const auto few = std::min({time(1'000), time(1'000), time(1'000)});
    const auto many = std::min({time(10'000), time(10'000), time(10'000)});
    CHECK(size > 10'000u * 100);
    std::cout << name << ": 10,000 turns took "
              << static_cast<double>(many) / static_cast<double>(few)
              << " times as long as 1,000\n";
    CHECK(many < 40 * few);
  }
}

TEST_CASE("what is asked in another way keeps its system prompt") {
  auto x = claude();
  x.say_system("be good");
  model::request_options fresh;
  fresh.model = "n";
  x.ask_with(fresh);
  CHECK(body_of(x).at("model") == "n");
  CHECK(body_of(x).at("system").at(0).at("text") == "be good");
}
