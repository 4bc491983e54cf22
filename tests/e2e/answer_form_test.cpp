// SPDX-License-Identifier: MIT
// Answers that are JSON of a form.
#include "tests/e2e/program.hpp"
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
    CHECK_THAT(body.at("tools").dump(), Contains("valid for this JSON Schema"));
    return;
  }
  auto want = json::parse(form);
  want["additionalProperties"] = false;
  CHECK(body.at("output_config").at("format") ==
        json{{"type", "json_schema"}, {"schema", want}});
  CHECK_THAT(body.at("tools").dump(), !Contains("JSON Schema"));
}

TEST_CASE("a form that the server refuses is asked for in words") {
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
  CHECK_FALSE(body_of(server, 1).contains("response_format"));
  CHECK_THAT(last_text(server, 2), Contains(form));
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

TEST_CASE("where a provider knows no forms the answer comes by a tool") {
  const work_folder folder;
  http_server server{
      respond_sse(answer("It is three.")),
      respond_sse(calls({{"complete", {{"answer", "{\"n\":\"x\"}"}}}})),
      respond_sse(calls({{"complete", {{"answer", "{\"n\":3}"}}}}))};
  const auto x =
      run(folder, server, "provider = \"deepseek\"\nmodel = \"m\"\n");
  CHECK(x.status == 0);
  CHECK_THAT(x.out, Catch::Matchers::EndsWith("{\"n\":3}\n"));
  CHECK_FALSE(body_of(server, 0).contains("response_format"));
  CHECK_THAT(body_of(server, 0).at("tools").dump(),
             Contains("valid for this JSON Schema") && Contains("integer"));
  CHECK_THAT(last_text(server, 1), Contains("call `complete`"));
  CHECK_THAT(last_text(server, 2), Contains("/n"));
  for (const auto& request : server.requests()) check_results(request);
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
