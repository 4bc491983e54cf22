// SPDX-License-Identifier: MIT
// The values that a session keeps, as a call sees them.
#include "tools/session_state.hpp"

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::tools;
using nlohmann::json;

TEST_CASE("a call sees the session's values under its own changes") {
  state_values session{{"a", "1"}, {"b", "[2]"}};
  call_state state{session};
  CHECK(state.get("a") == json(1));
  CHECK_FALSE(state.get("c"));
  CHECK(state.has("b"));
  REQUIRE(state.set("a", {{"x", "y"}}));
  REQUIRE(state.set("b", nullptr));
  REQUIRE(state.set("c", false));
  CHECK(state.get("a") == json{{"x", "y"}});
  CHECK_FALSE(state.has("b"));
  CHECK(state.all() ==
        std::map<std::string, json>{{"a", {{"x", "y"}}}, {"c", false}});
  CHECK(state.changes() ==
        state_values{{"a", R"({"x":"y"})"}, {"b", ""}, {"c", "false"}});
  // Others see them once they are applied.
  CHECK(call_state{session}.get("a") == json(1));
  apply_state(session, state.changes());
  const call_state other{session};
  CHECK(other.all() == state.all());
  CHECK(other.changes().empty());
}

TEST_CASE("a state has limits, and says which one it is at") {
  call_state state;
  const auto refused = [&](const std::string& key, const json& value) {
    const auto before = state.values();
    const auto done = state.set(key, value);
    CHECK(state.values() == before);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == errc::invalid_request);
    return done.error().message;
  };
  CHECK(refused("", 1).find("1 to 128 bytes") != std::string::npos);
  CHECK(refused(std::string(129, 'k'), 1).find("128") != std::string::npos);
  CHECK(state.set(std::string(128, 'k'), 1));
  CHECK(refused("v", std::string(65535, 'v')).find("65536") !=
        std::string::npos);
  const std::string longest(65534, 'v');  // and its two quotes
  for (int i = 0; i < 15; ++i)
    CHECK(state.set("v" + std::to_string(i), longest));
  CHECK(refused("v15", longest).find("1048576") != std::string::npos);
  for (int i = 0; i < 15; ++i)
    CHECK(state.set("v" + std::to_string(i), nullptr));
  for (int i = 0; i < 255; ++i) CHECK(state.set("n" + std::to_string(i), i));
  CHECK(refused("one more", 1).find("256 keys") != std::string::npos);
  CHECK(state.set("n0", 7));
  CHECK(state.set("n1", nullptr));
  CHECK(state.set("one more", 1));
}

TEST_CASE("bytes that are no UTF-8 do not break a state") {
  call_state state;
  REQUIRE(state.set("a", std::string{"x\xFFy"}));
  CHECK(state.get("a") == json("x\xEF\xBF\xBDy"));
}

TEST_CASE("a state can be reset: nothing of it is left, for later calls too") {
  state_values session{{"a", "1"}, {"b", "[2]"}};
  call_state state{session};
  REQUIRE(state.set("c", 3));
  state.reset();
  CHECK(state.all().empty());
  CHECK(state.changes() == state_values{{"a", ""}, {"b", ""}});
  REQUIRE(state.set("b", "new"));
  apply_state(session, state.changes());
  CHECK(session == state_values{{"b", "\"new\""}});
}

TEST_CASE("what Riffle keeps of a session is read by tools, and not set") {
  const state_values session{
      {"session_title", R"("Tea")"}, {"session_taken_back", "{}"}, {"a", "1"}};
  call_state state{session};
  CHECK(state.get("session_title") == json("Tea"));
  for (const auto* key : {"session_title", "session_taken_back", "session_new"})
    for (const auto& value : {json("mine"), json()}) {
      const auto done = state.set(key, value);
      REQUIRE_FALSE(done);
      CHECK(done.error().code == errc::invalid_request);
      CHECK(done.error().message.find("Riffle's own") != std::string::npos);
    }
  CHECK(state.changes().empty());
  CHECK(state.set("sessions", 1));
  state.reset();
  CHECK(state.changes() == state_values{{"a", ""}});
}
