// SPDX-License-Identifier: MIT
// Answers that are JSON of a form.
#include "tests/e2e/program.hpp"
#include "tests/e2e/wire_script.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

constexpr auto form =
    R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})";

finished run(const work_folder& folder, const http_server& server,
             std::string_view more = {}, bool with_file = true) {
  folder.configure(server.url("/v1"), more);
  folder.write("form.json", form);
  std::vector<std::string> words{"run", "count"};
  if (with_file) words.insert(words.end(), {"--schema", "form.json"});
  return riffle::testing::riffle(folder, words);
}

json body_of(const http_server& server, std::size_t number) {
  return json::parse(server.requests().at(number).body);
}

/// What the model is told of `complete`; null: there is none.
json completing(const json& body) {
  for (const auto& x : body.at("tools")) {
    const auto& tool = x.contains("function") ? x["function"] : x;
    if (tool.at("name") != "complete") continue;
    return tool.contains("parameters") ? tool["parameters"]
                                       : tool.at("input_schema");
  }
  return {};
}

/// The model has to call `complete`, said as the dialect can say it.
bool is_made_to(const std::string& dialect, const json& body) {
  if (dialect == "ollama") return body.at("tools").size() == 1;
  json want = {{"type", "function"}, {"name", "complete"}};
  if (dialect == "anthropic") want["type"] = "tool";
  if (dialect == "openai")
    want = {{"type", "function"}, {"function", {{"name", "complete"}}}};
  return body.value("tool_choice", json{}) == want;
}

std::string last_text(const http_server& server, std::size_t number) {
  return body_of(server, number).at("messages").back().at("content");
}

}  // namespace

TEST_CASE("an answer of a form is asked for as the provider has it") {
  const work_folder folder;
  http_server server{respond_sse(answer("{\"n\": 3}"))};
  const bool with_file = GENERATE(true, false);
  const auto x = run(folder, server,
                     with_file ? ""
                               : "[agents.default]\nresponse_schema = '" +
                                     std::string{form} + "'\n",
                     with_file);
  CHECK(x.status == 0);
  CHECK(x.out == "{\"n\": 3}\n");
  CHECK(
      body_of(server, 0).at("response_format").at("json_schema").at("schema") ==
      json::parse(form));
  CHECK(server.request_count() == 1);
}

TEST_CASE(
    "Anthropic makes answers of a form by itself, old models by the tool") {
  const auto said = [](const char* text) {
    std::string out;
    for (const json& x : {
             json{{"type", "content_block_start"},
                  {"index", 0},
                  {"content_block", {{"type", "text"}, {"text", text}}}},
             json{{"type", "content_block_stop"}, {"index", 0}},
             json{{"type", "message_delta"},
                  {"delta", {{"stop_reason", "end_turn"}}}},
         })
      out += "data: " + x.dump() + "\n\n";
    return respond_sse(out);
  };
  const work_folder folder;
  http_server server{said("{\"n\": 3}")};
  const bool old = GENERATE(false, true);
  const auto x =
      run(folder, server,
          std::string{"provider = \"anthropic\"\nmodel = \""} +
              (old ? "claude-3-7-sonnet-latest" : "claude-x") + "\"\n");
  CHECK(x.status == 0);
  CHECK(x.out == "{\"n\": 3}\n");
  const auto body = body_of(server, 0);
  if (old) {
    CHECK_FALSE(body.contains("output_config"));
    CHECK(completing(body) == json::parse(form));
    return;
  }
  auto want = json::parse(form);
  want["additionalProperties"] = false;
  CHECK(body.at("output_config").at("format") ==
        json{{"type", "json_schema"}, {"schema", want}});
  CHECK(completing(body).is_null());
}

TEST_CASE("a form that the server refuses comes by the tool") {
  const work_folder folder;
  http_server server{
      http_reply::json(R"({"error":{"message":"Invalid schema for )"
                       R"(response_format 'answer'"}})",
                       400),
      respond_sse(answer("Three.")), respond_sse(answer("{\"n\":3}"))};
  const auto x = run(folder, server);
  CHECK(x.status == 0);
  CHECK_THAT(x.out, Catch::Matchers::EndsWith("{\"n\":3}\n"));
  REQUIRE(server.request_count() == 3);
  CHECK(completing(body_of(server, 0)).is_null());
  CHECK_FALSE(body_of(server, 1).contains("response_format"));
  CHECK(completing(body_of(server, 1)) == json::parse(form));
  CHECK_FALSE(is_made_to("openai", body_of(server, 1)));
  CHECK(is_made_to("openai", body_of(server, 2)));
  CHECK_THAT(last_text(server, 2),
             Contains(form) && Contains("call `complete`"));
}

TEST_CASE("an answer of another form is asked for again, with what is wrong") {
  const work_folder folder;
  http_server server{respond_sse(answer("Three.")),
                     respond_sse(answer("```json\n{\"n\":3}\n```")),
                     respond_sse(answer("{\"n\":3}"))};
  const auto x = run(folder, server);
  CHECK(x.status == 0);
  CHECK_THAT(x.out, Catch::Matchers::EndsWith("{\"n\":3}\n"));
  CHECK_THAT(last_text(server, 1), Contains("it is no JSON") && Contains(form));
  CHECK_THAT(last_text(server, 2), Contains("something stands around"));
}

TEST_CASE("an answer that never fits is a failure") {
  const work_folder folder;
  http_server server{respond_sse(answer("Three."))};
  const auto x =
      run(folder, server, "[agents.default]\nmax_termination_attempts = 1\n");
  CHECK(x.status == 1);
  CHECK(server.request_count() == 2);
  CHECK_THAT(x.err, Contains("does not fit response_schema"));
}

TEST_CASE("where a provider knows no forms the model is made to call a tool") {
  // The one knows none; the others stand beside one that does not.
  const std::string beside =
      "fallback = [\"other\"]\n[models.other]\nprovider = \"deepseek\"\n"
      "model = \"m\"\napi_key_env = \"\"\nbase_url = \"http://127.0.0.1:9\"\n";
  const std::map<std::string, std::string> models{
      {"openai", "provider = \"deepseek\"\nmodel = \"m\"\n"},
      {"anthropic",
       "provider = \"anthropic\"\nmodel = \"claude-3-7-sonnet-latest\"\n"
       "thinking_budget = 2000\n"},
      {"responses", "dialect = \"responses\"\nmodel = \"m\"\n" + beside},
      {"ollama",
       "dialect = \"ollama\"\nmodel = \"m\"\n"
       "context_window = 100000\n" +
           beside}};
  for (const auto& [dialect, more] : models) {
    INFO(dialect);
    const work_folder folder;
    const auto says = [&](int number, const json& n) {
      return as_said(dialect, number, {"", "", {{"complete", {{"n", n}}}}});
    };
    http_server server{as_said(dialect, 0, {"", "It is three."}), says(1, "x"),
                       says(2, 3)};
    const auto x = run(folder, server, more);
    INFO(x.err);
    CHECK(x.status == 0);
    CHECK_THAT(x.out, Catch::Matchers::EndsWith("{\"n\":3}\n"));
    REQUIRE(server.request_count() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto body = body_of(server, i);
      CHECK(completing(body) == json::parse(form));
      CHECK(is_made_to(dialect, body) == (i > 0));
      CHECK(body.contains("thinking") == (dialect == "anthropic" && i == 0));
      for (const auto* native : {"response_format", "format", "text"})
        CHECK_FALSE(body.contains(native));
    }
    CHECK_THAT(server.requests().at(1).body, Contains("call `complete` now"));
    // The result of the call says what is wrong with it.
    CHECK_THAT(server.requests().at(2).body,
               Contains("/n") && Contains("call `complete` again"));
  }
}

TEST_CASE("an agent without other tools is made to answer at once") {
  const work_folder folder;
  http_server server{respond_sse(calls({{"complete", {{"n", 3}}}}))};
  const auto x = run(folder, server,
                     "provider = \"deepseek\"\nmodel = \"m\"\n"
                     "[agents.default]\ntools = []\n");
  CHECK(x.status == 0);
  CHECK(x.out == "{\"n\":3}\n");
  REQUIRE(server.request_count() == 1);
  CHECK(is_made_to("openai", body_of(server, 0)));
}

TEST_CASE("the last step is for the answer") {
  const work_folder folder;
  folder.write("a.txt", "A");
  http_server server{respond_sse(calls({{"read", {{"path", "a.txt"}}}})),
                     respond_sse(calls({{"complete", {{"n", 3}}}}))};
  const auto x = run(folder, server,
                     "provider = \"deepseek\"\nmodel = \"m\"\n"
                     "[agents.default]\nmax_steps = 2\n");
  CHECK(x.status == 0);
  CHECK(x.out == "{\"n\":3}\n");
  REQUIRE(server.request_count() == 2);
  CHECK_FALSE(is_made_to("openai", body_of(server, 0)));
  CHECK(is_made_to("openai", body_of(server, 1)));
}

TEST_CASE("who cannot be told what to call has no other tool left") {
  const work_folder folder;
  http_server server{[&, n = 0](const http_request& request) mutable {
    const auto body = json::parse(request.body);
    // As DeepSeek says it of models that think.
    if (body.contains("tool_choice"))
      return http_reply::json(
          R"({"error":{"message":"Thinking mode does not support this )"
          R"(tool_choice","type":"invalid_request_error"}})",
          400);
    return ++n == 1 ? respond_sse(answer("Three."))
                    : respond_sse(calls({{"complete", {{"n", 3}}}}));
  }};
  const auto x =
      run(folder, server, "provider = \"deepseek\"\nmodel = \"m\"\n");
  INFO(x.err);
  CHECK(x.status == 0);
  CHECK_THAT(x.out, Catch::Matchers::EndsWith("{\"n\":3}\n"));
  REQUIRE(server.request_count() == 3);
  CHECK(is_made_to("openai", body_of(server, 1)));
  CHECK(body_of(server, 2).at("tools").size() == 1);
  CHECK_THAT(x.err, Contains("does not take tool_choice"));
}

TEST_CASE("killed while it is made to answer, a run still is") {
  const work_folder folder;
  http_server server{[&, n = 0](const http_request&) mutable {
    ++n;
    if (n == 1) return respond_sse(answer("Three."));
    if (n == 2) return http_reply::sse().stall();
    return respond_sse(calls({{"complete", {{"n", 3}}}}));
  }};
  folder.configure(server.url("/v1"),
                   "provider = \"deepseek\"\nmodel = \"m\"\n");
  folder.write("form.json", form);
  {
    program running{
        installed_riffle(),
        folder,
        {"run", "count", "--session", "s1", "--schema", "form.json"}};
    REQUIRE(server.wait_for_requests(2, std::chrono::seconds{60}));
    // What is asked may be on its way before the turn behind it is stored.
    REQUIRE(eventually([&] {
      const auto log =
          riffle::testing::riffle(folder, {"sessions", "events", "s1"});
      return log.out.find(R"("step_start","data":{"step":2,)") != log.out.npos;
    }));
    running.signal(SIGKILL);
    running.wait();
  }
  server.release();
  const auto x = riffle::testing::riffle(folder, {"sessions", "resume", "s1"});
  INFO(x.err);
  CHECK(x.status == 0);
  CHECK_THAT(x.out, Catch::Matchers::EndsWith("{\"n\":3}\n"));
  REQUIRE(server.request_count() == 3);
  CHECK(is_made_to("openai", body_of(server, 1)));
  CHECK(server.requests().at(2).body == server.requests().at(1).body);
}

TEST_CASE("an answer that fits at once needs no tool to say it") {
  const work_folder folder;
  http_server server{respond_sse(answer("{\"n\":3}"))};
  const auto x =
      run(folder, server, "provider = \"deepseek\"\nmodel = \"m\"\n");
  CHECK(x.status == 0);
  CHECK(x.out == "{\"n\":3}\n");
  CHECK(server.request_count() == 1);
}

TEST_CASE("what is no schema is said before anything starts") {
  const work_folder folder;
  http_server server{respond_sse(answer("ok"))};
  folder.configure(server.url("/v1"));
  folder.write("form.json", "{\"type\":\"array\"}");
  const auto x = riffle::testing::riffle(
      folder, {"run", "count", "--schema", "form.json"});
  CHECK(x.status == 2);
  CHECK_THAT(x.err, Contains("response_schema is no JSON Schema of an object"));
  const auto gone = riffle::testing::riffle(
      folder, {"run", "count", "--schema", "none.json"});
  CHECK(gone.status == 2);
  CHECK(server.request_count() == 0);
}
