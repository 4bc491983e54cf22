// SPDX-License-Identifier: MIT
// Riffle as a server: what a client of each era hears.
#include "tools/mcp/serving.hpp"

#include "tests/support/catch.hpp"

using namespace riffle::mcp;

namespace {

struct world {
  world() {
    options.version = "1";
    options.tools = {{{"name", "run_task"}}};
    options.list = [] { return json::array({{{"uri", "x:1"}}}); };
    options.read = [](const std::string& uri) -> std::optional<std::string> {
      if (uri == "x:1") return "content";
      return std::nullopt;
    };
    options.most_calls = 2;
    core.emplace(options);
  }

  serving_effects say(const json& x) {
    serving_effects out;
    core->on_text(x.dump(), out);
    return out;
  }

  json answer(const json& x) {
    const auto out = say(x);
    REQUIRE(out.size() == 1);
    return json::parse(std::get<send_text>(out[0]).text);
  }

  serving_options options;
  std::optional<serving_core> core;
};

json ask(const json& id, const std::string& method,
         json params = json::object()) {
  return {{"jsonrpc", "2.0"},
          {"id", id},
          {"method", method},
          {"params", std::move(params)}};
}

json modern(json params = json::object()) {
  params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
  params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
      json::object();
  return params;
}

}  // namespace

TEST_CASE("a legacy client begins with initialize, and gets its version") {
  world w;
  CHECK(w.answer(ask(1, "tools/list")).at("error").at("code") == -32602);
  const auto begun =
      w.answer(ask(2, "initialize", {{"protocolVersion", "2025-03-26"}}));
  CHECK(begun.at("result").at("protocolVersion") == "2025-03-26");
  CHECK(begun.at("id") == 2);
  CHECK(w.say({{"method", "notifications/initialized"}}).empty());
  const auto list = w.answer(ask("a", "tools/list")).at("result");
  CHECK(list.at("tools").size() == 1);
  CHECK_FALSE(list.contains("resultType"));
  CHECK(w.answer(ask(3, "initialize", {{"protocolVersion", "2030-01-01"}}))
            .at("result")
            .at("protocolVersion") == "2025-11-25");
}

TEST_CASE("a modern client needs no beginning, and says its version") {
  world w;
  const auto found = w.answer(ask(1, "server/discover", modern())).at("result");
  CHECK(found.at("supportedVersions") == json{"2026-07-28"});
  CHECK(found.at("resultType") == "complete");
  CHECK(
      w.answer(ask(2, "tools/list", modern())).at("result").at("resultType") ==
      "complete");
  auto other = modern();
  other["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2030-01-01";
  const auto error = w.answer(ask(3, "tools/list", other)).at("error");
  CHECK(error.at("code") == -32022);
  CHECK(error.at("data").at("supported") == json{"2026-07-28"});
}

TEST_CASE("a call is begun, told of, and answered once") {
  world w;
  auto params = modern({{"name", "run_task"}, {"arguments", {{"task", "x"}}}});
  params["_meta"]["progressToken"] = "t";
  const auto begun = w.say(ask(7, "tools/call", params));
  REQUIRE(begun.size() == 1);
  const auto& call = std::get<begin_call>(begun[0]);
  CHECK(call.arguments == json{{"task", "x"}});
  serving_effects out;
  w.core->on_progress(call.key, 1, "one", out);
  w.core->on_progress(call.key, 1, "again", out);
  w.core->on_done(call.key, {{"content", json::array()}}, out);
  w.core->on_done(call.key, {{"content", json::array()}}, out);
  w.core->on_progress(call.key, 9, "late", out);
  REQUIRE(out.size() == 2);
  CHECK(json::parse(std::get<send_text>(out[0]).text)
            .at("params")
            .at("progressToken") == "t");
  const auto done = json::parse(std::get<send_text>(out[1]).text);
  CHECK(done.at("id") == 7);
  CHECK(done.at("result").at("resultType") == "complete");
}

TEST_CASE("a cancelled call is stopped, and not answered") {
  world w;
  const auto params = modern({{"name", "run_task"}});
  const auto begun = w.say(ask("c1", "tools/call", params));
  const auto key = std::get<begin_call>(begun.at(0)).key;
  const auto out = w.say({{"method", "notifications/cancelled"},
                          {"params", {{"requestId", "c1"}}}});
  REQUIRE(out.size() == 1);
  CHECK(std::get<stop_call>(out[0]).key == key);
  serving_effects late;
  w.core->on_done(key, json::object(), late);
  CHECK(late.empty());
  CHECK(w.say({{"method", "notifications/cancelled"},
               {"params", {{"requestId", "c1"}}}})
            .empty());
}

TEST_CASE("the end of the client stops all, and calls have a bound") {
  world w;
  const auto params = modern({{"name", "run_task"}});
  for (int i = 0; i < 2; ++i)
    CHECK(std::holds_alternative<begin_call>(
        w.say(ask(i, "tools/call", params)).at(0)));
  CHECK(w.answer(ask(9, "tools/call", params)).at("error").at("code") ==
        -32603);
  serving_effects out;
  w.core->on_closed(out);
  CHECK(out.size() == 2);
  CHECK(w.core->calls() == 0);
}

TEST_CASE("resources are listed and read") {
  world w;
  CHECK(w.answer(ask(1, "resources/list", modern()))
            .at("result")
            .at("resources")
            .size() == 1);
  CHECK(w.answer(ask(2, "resources/read", modern({{"uri", "x:1"}})))
            .at("result")
            .at("contents")
            .at(0)
            .at("text") == "content");
  CHECK(w.answer(ask(3, "resources/read", modern({{"uri", "x:2"}})))
            .at("error")
            .at("code") == -32602);
}

TEST_CASE("what is no request is refused in form") {
  world w;
  serving_effects out;
  w.core->on_text("garbage", out);
  w.core->on_text("[]", out);
  w.core->on_text("{}", out);
  w.core->on_text(R"({"id":1,"method":7})", out);
  w.core->on_text(R"({"id":null,"method":"ping"})", out);
  REQUIRE(out.size() == 5);
  const auto code_of = [&](std::size_t i) {
    return json::parse(std::get<send_text>(out[i]).text).at("error").at("code");
  };
  CHECK(code_of(0) == -32700);
  for (std::size_t i = 1; i < 5; ++i) CHECK(code_of(i) == -32600);
  CHECK(w.say({{"id", 1}, {"result", json::object()}}).empty());
  CHECK(w.answer(ask(1, "ping")).at("result") == json::object());
  CHECK(w.answer(ask(2, "nothing/known", modern())).at("error").at("code") ==
        -32601);
  CHECK(w.answer(ask(3, "tools/call", modern({{"name", "other"}})))
            .at("error")
            .at("code") == -32602);
}

TEST_CASE("the newer era: what may be kept how long, and what is gone") {
  world w;
  const auto result_of = [&](const char* method) {
    return w.answer(ask(1, method, modern({{"uri", "x:1"}}))).at("result");
  };
  for (const auto* method : {"tools/list", "server/discover"}) {
    CHECK(result_of(method).at("ttlMs") == 3'600'000);
    CHECK(result_of(method).at("cacheScope") == "public");
  }
  for (const auto* method :
       {"resources/list", "resources/templates/list", "resources/read"}) {
    CHECK(result_of(method).at("ttlMs") == 0);
    CHECK(result_of(method).at("cacheScope") == "private");
  }
  for (const auto* method : {"ping", "initialize"})
    CHECK(w.answer(ask(1, method, modern())).at("error").at("code") == -32601);
  auto unable = modern();
  unable["_meta"].erase("io.modelcontextprotocol/clientCapabilities");
  CHECK(w.answer(ask(1, "tools/list", unable)).at("error").at("code") ==
        -32602);
  CHECK_FALSE(w.answer(ask(1, "ping")).at("result").contains("ttlMs"));
}

TEST_CASE("where each message may be of another client, none must begin") {
  serving_options how;
  how.has_begun = true;
  serving_core core{std::move(how)};
  serving_effects out;
  core.on_text(ask(1, "tools/list", json::object()).dump(), out);
  REQUIRE(out.size() == 1);
  CHECK(json::parse(std::get<send_text>(out[0]).text).contains("result"));
}

TEST_CASE("arguments that are no object are refused, and begin nothing") {
  world w;
  for (const auto& bad : {json::array({1}), json("x"), json(1), json(true)})
    CHECK(w.answer(ask(1, "tools/call",
                       modern({{"name", "run_task"}, {"arguments", bad}})))
              .at("error")
              .at("code") == -32602);
  for (const auto& good : {json{{"name", "run_task"}},
                           json{{"name", "run_task"}, {"arguments", nullptr}}})
    CHECK(std::holds_alternative<begin_call>(
        w.say(ask(1, "tools/call", modern(good))).at(0)));
}

TEST_CASE("a client of a version with batches is answered in one") {
  world w;
  const auto batch = json::array({ask(1, "tools/list"),
                                  ask(2, "tools/call", {{"name", "run_task"}}),
                                  {{"method", "notifications/initialized"}},
                                  7});
  // Before it is known that it speaks such a version it is no request.
  CHECK(w.answer(batch).at("error").at("code") == -32600);
  w.answer(ask(0, "initialize", {{"protocolVersion", "2025-03-26"}}));
  const auto begun = w.say(batch);
  REQUIRE(begun.size() == 1);
  const auto key = std::get<begin_call>(begun[0]).key;
  serving_effects out;
  w.core->on_done(key,
                  {{"content", json::array({{{"type", "resource_link"},
                                             {"uri", "riffle://outputs/c"}}})}},
                  out);
  REQUIRE(out.size() == 1);
  const auto all = json::parse(std::get<send_text>(out[0]).text);
  REQUIRE(all.size() == 3);
  CHECK(all[0].at("id") == 1);
  CHECK(all[1].at("error").at("code") == -32600);
  CHECK(all[2].at("id") == 2);
  // It knows no links: they are words.
  CHECK(all[2].at("result").at("content")[0].at("type") == "text");
  CHECK(
      w.say(json::array({{{"method", "notifications/initialized"}}})).empty());
}

TEST_CASE("a call that is cancelled within its batch leaves the others") {
  world w;
  w.answer(ask(0, "initialize", {{"protocolVersion", "2025-03-26"}}));
  const auto out = w.say(json::array(
      {ask(1, "tools/call", {{"name", "run_task"}}),
       {{"method", "notifications/cancelled"}, {"params", {{"requestId", 1}}}},
       ask(2, "ping")}));
  REQUIRE(out.size() == 3);
  CHECK(std::holds_alternative<begin_call>(out[0]));
  CHECK(std::holds_alternative<stop_call>(out[1]));
  CHECK(json::parse(std::get<send_text>(out[2]).text).size() == 1);
  CHECK(w.core->calls() == 0);
}

TEST_CASE("a message that could be read in two ways is refused") {
  world w;
  const auto code_of = [&](const std::string& text) {
    serving_effects out;
    w.core->on_text(text, out);
    REQUIRE(out.size() == 1);
    return json::parse(std::get<send_text>(out[0]).text).at("error");
  };
  const auto twice =
      code_of(R"({"id":1,"method":"ping","method":"tools/call","params":{}})");
  CHECK(twice.at("code") == -32600);
  CHECK(twice.at("message").get<std::string>().find(
            "the key \"method\" stands twice") == 0);
  auto call = ask(1, "tools/call",
                  modern({{"name", "run_task"}, {"arguments", json::object()}}))
                  .dump();
  const auto at = call.find("\"name\"");
  REQUIRE(at != call.npos);
  call.insert(at, R"("name":"other",)");
  CHECK(code_of(call).at("code") == -32600);
  for (const auto* params : {"[]", "7", "\"x\""})
    CHECK(code_of(R"({"id":1,"method":"ping","params":)" + std::string{params} +
                  "}")
              .at("code") == -32602);
  CHECK(w.answer({{"id", 1}, {"method", "ping"}, {"params", nullptr}})
            .contains("result"));
  auto tokens = modern({{"name", "run_task"}});
  for (const auto& bad :
       {json::object(), json::array(), json(1.5), json(true)}) {
    tokens["_meta"]["progressToken"] = bad;
    CHECK(w.answer(ask(1, "tools/call", tokens)).at("error").at("code") ==
          -32602);
  }
  CHECK(w.core->calls() == 0);
}

TEST_CASE("a client's trace goes with its call, what is none does not") {
  const std::string trace =
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  world w;
  const auto begun = [&](int id, const json& sent) {
    auto params = modern({{"name", "run_task"}});
    params["_meta"]["traceparent"] = sent;
    const auto out = w.say(ask(id, "tools/call", params));
    REQUIRE(out.size() == 1);
    return std::get<begin_call>(out[0]).trace;
  };
  CHECK(begun(1, trace) == trace);
  CHECK(begun(2, "00-none").empty());
}

TEST_CASE("a resource that there is not is named in the error") {
  world w;
  const auto said =
      w.answer(ask(1, "resources/read", modern({{"uri", "x:2"}})));
  CHECK(said.at("error").at("code") == -32602);
  CHECK(said.at("error").at("data") == json{{"uri", "x:2"}});
}
