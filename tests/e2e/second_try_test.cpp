// SPDX-License-Identifier: MIT
// What is asked in another way when a model's server refuses: without a
// parameter, with a shorter conversation, another model.
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

struct seen {
  finished end;
  std::vector<json> events;
};

/// `more` begins inside of [models.default].
seen run(const work_folder& folder, const http_server& server,
         std::string_view more = {}) {
  folder.configure(server.url("/v1"), more);
  auto end =
      riffle::testing::riffle(folder, {"run", "go", "--output", "jsonl"});
  INFO(end.err);
  auto events = checked_events(end.out);
  return {std::move(end), std::move(events)};
}

json body_of(const http_server& server, std::size_t number) {
  return json::parse(server.requests().at(number).body);
}

http_reply refusal(const std::string& message, int status = 400) {
  return http_reply::json(json{{"error", {{"message", message}}}}.dump(),
                          status);
}

std::string answer_of(const seen& x) {
  const auto found = of_type(x.events, "final_answer");
  return found.empty() ? "none" : found[0].at("data").at("content");
}

}  // namespace

TEST_CASE("parameters reach the server") {
  const work_folder folder;
  http_server server{respond_sse(answer("ok"))};
  run(folder, server,
      "top_p = 0.5\nmax_output_tokens = 7\nstop = [\"END\"]\nseed = 3\n"
      "reasoning_effort = \"low\"\nparallel_tool_calls = false\n"
      "extra = { top_k = 4 }\ntemperature = 1\n"
      "[agents.default]\ntemperature = 0.5\ntool_choice = \"auto\"\n");
  const auto body = body_of(server, 0);
  CHECK(body.at("top_p") == 0.5);
  CHECK(body.at("max_tokens") == 7);
  CHECK(body.at("stop") == json{"END"});
  CHECK(body.at("seed") == 3);
  CHECK(body.at("reasoning_effort") == "low");
  CHECK(body.at("parallel_tool_calls") == false);
  CHECK(body.at("tool_choice") == "auto");
  CHECK(body.at("top_k") == 4);
  CHECK(body.at("temperature") == 0.5);
}

TEST_CASE("a provider that says how little is left is not asked too soon") {
  using clock = std::chrono::steady_clock;
  const work_folder folder;
  folder.write("a.txt", "A");
  std::vector<clock::time_point> asked;
  http_server server{[&](const http_request& request) {
    asked.push_back(clock::now());
    if (!tool_messages(request).empty()) return respond_sse(answer("ok"));
    // The end of the body comes behind the last event: what the headers say
    // counts before.
    return respond_sse(calls({{"read", {{"path", "a.txt"}}}}))
        .header("x-ratelimit-limit-requests", "50")
        .header("x-ratelimit-remaining-requests", "0")
        .header("x-ratelimit-reset-requests", "1s")
        .pause(300ms);
  }};
  const auto limits = GENERATE("", "max_concurrent = 0\n");
  const auto x = run(folder, server, limits);
  CHECK(x.end.status == 0);
  REQUIRE(asked.size() == 2);
  CHECK(asked[1] - asked[0] > 900ms);
}

TEST_CASE("what a dialect or a provider does not have is a mistake at start") {
  const work_folder folder;
  http_server server{respond_sse(answer("ok"))};
  const auto x = [&](std::string_view more) {
    folder.configure(server.url("/v1"), more);
    const auto end = riffle::testing::riffle(folder, {"run", "go"});
    CHECK(end.status == 2);
    return end.err;
  };
  CHECK_THAT(x("thinking_budget = 100\n"),
             Contains("models.default.thinking_budget: the dialect \"openai\" "
                      "has no such thing"));
  CHECK_THAT(x("[agents.default]\nthinking_budget = 100\n"),
             Contains("agents.default.thinking_budget: the dialect"));
  CHECK_THAT(x("provider = \"deepseek\"\nmodel = \"m\"\nseed = 1\n"),
             Contains("the provider \"deepseek\" has no such thing"));
  CHECK_THAT(x("extra = { messages = [] }\n"),
             Contains("is what Riffle itself writes"));
  CHECK(server.request_count() == 0);
}

TEST_CASE("a parameter that the model refuses is left out from then on") {
  const work_folder folder;
  folder.write("a.txt", "A");
  http_server server{[](const http_request& request) {
    if (json::parse(request.body).contains("temperature"))
      return refusal(
          "Unsupported value: 'temperature' does not support 1 with this "
          "model. Only the default (1) value is supported.");
    if (tool_messages(request).empty())
      return respond_sse(calls({{"read", {{"path", "a.txt"}}}}));
    return respond_sse(answer("ok"));
  }};
  const auto x = run(folder, server, "temperature = 1\nseed = 3\n");
  CHECK(x.end.status == 0);
  CHECK(answer_of(x) == "ok");
  CHECK(server.request_count() == 3);  // the second step is asked without it
  CHECK(body_of(server, 1).at("seed") == 3);
  CHECK(of_type(x.events, "retry").empty());
  const auto said = of_type(x.events, "status");
  REQUIRE(said.size() == 1);
  CHECK_THAT(said[0].at("data").dump(), Contains("does not take temperature"));
  CHECK(x.end.err.empty());  // the events say it
  const auto text = riffle::testing::riffle(folder, {"run", "go"});
  CHECK_THAT(text.err, Contains("[MODEL] default does not take temperature") &&
                           !Contains(" warn "));
}

TEST_CASE("what Riffle says by itself is left out where it is refused") {
  struct refused {
    const char* dialect;
    const char* words;
    std::string message;
    const char* param = nullptr;
  };
  const auto x = GENERATE(
      refused{"openai", "stream_options",
              "stream_options: Extra inputs are not permitted"},
      refused{"responses", "include",
              "Encrypted content is not supported with this model.", "include"},
      refused{"responses", "summary",
              "Your organization must be verified to generate reasoning "
              "summaries. (unsupported)",
              "reasoning.summary"},
      refused{"anthropic", "eager_input_streaming",
              "tools.0.custom.eager_input_streaming: Extra inputs are not "
              "permitted"});
  INFO(x.dialect << " " << x.words);
  const work_folder folder;
  folder.write("a.txt", "A");
  const std::string quoted = std::string{"\""} + x.words + "\"";
  http_server server{[&](const http_request& request) {
    if (request.body.find(quoted) != std::string::npos ||
        request.body.find("\"seed\"") != std::string::npos) {
      const bool first = request.body.find(quoted) != std::string::npos;
      json error = {{"message", first ? x.message : "Unknown name 'seed'"}};
      if (first && x.param) error["param"] = x.param;
      return http_reply::json(json{{"error", error}}.dump(), 400);
    }
    return http_reply::text("stop here", 418);
  }};
  const auto end = run(folder, server,
                       std::string{"extra = { seed = 3 }\ndialect = \""} +
                           x.dialect + "\"\nmodel = \"m\"\n");
  // It does not count as the one parameter that may be left out.
  REQUIRE(server.request_count() == 3);
  CHECK_THAT(server.requests().at(0).body, Contains(quoted));
  CHECK_THAT(server.requests().at(1).body,
             !Contains(quoted) && Contains("\"seed\""));
  CHECK_THAT(server.requests().at(2).body,
             !Contains(quoted) && !Contains("\"seed\""));
  std::string said;
  for (const auto& one : of_type(end.events, "status")) said += one.dump();
  CHECK_THAT(said, Contains("does not take"));
}

TEST_CASE("two parameters of one step are not guessed away") {
  const work_folder folder;
  http_server server{[](const http_request& request) {
    const auto body = json::parse(request.body);
    return refusal(std::string{"Unknown parameter: '"} +
                   (body.contains("seed") ? "seed'" : "top_p'"));
  }};
  const auto x = run(folder, server, "top_p = 0.5\nseed = 3\n");
  CHECK(x.end.status == 1);
  CHECK(server.request_count() == 2);
}

TEST_CASE("a 400 that names no parameter of ours is the end") {
  const work_folder folder;
  http_server server{refusal("Unsupported: temperature of the sun")};
  CHECK(run(folder, server, "seed = 3\n").end.status == 1);
  CHECK(server.request_count() == 1);
}

TEST_CASE("a conversation that is too long for the server loses old outputs") {
  const work_folder folder;
  folder.write("a.txt", std::string(3000, 'a'));
  std::size_t refused = 0;
  http_server server{[&](const http_request& request) {
    const auto results = tool_messages(request);
    if (request.body.size() > 16'000 && ++refused > 0)
      return refusal(
          "This model's maximum context length is 4096 tokens. However, your "
          "messages resulted in 5000 tokens.");
    if (results.size() < 4)
      return respond_sse(calls({{"read",
                                 {{"path", "a.txt"},
                                  {"offset", 1 + results.size() * 0},
                                  {"limit", results.size() + 1}}}}));
    return respond_sse(answer("ok"));
  }};
  const auto x = run(folder, server);
  CHECK(x.end.status == 0);
  CHECK(answer_of(x) == "ok");
  CHECK(refused > 0);
  CHECK(of_type(x.events, "retry").empty());
  CHECK_THAT(of_type(x.events, "status").at(0).at("data").dump(),
             Contains("says that the conversation is too long"));
  for (const auto& request : server.requests()) check_results(request);
}

TEST_CASE("without anything to leave out too long is the end") {
  const work_folder folder;
  http_server server{refusal("prompt is too long: 9 tokens > 8 maximum")};
  const auto x = run(folder, server);
  CHECK(x.end.status == 1);
  CHECK(server.request_count() == 1);
  CHECK_THAT(x.end.out, Contains("prompt is too long"));
}

TEST_CASE("another model takes the place of one that is out of service") {
  const work_folder folder;
  folder.write("a.txt", "A");
  const auto other = [](const http_request& request) {
    if (tool_messages(request).empty())
      return respond_sse(calls({{"read", {{"path", "a.txt"}}}}));
    return respond_sse(answer("from the other"));
  };
  http_server second{other};
  auto refused = http_reply::text("overloaded", 529);
  http_server first{[&](const http_request&) { return refused; }};
  std::string url = first.url("/v1");
  SECTION("overloaded") {}
  SECTION("quota") {
    refused = refusal("You exceeded your current quota", 429);
  }
  SECTION("a bill that is told as a mistake") {
    refused = refusal(
        "Your credit balance is too low to access the Anthropic API. Please "
        "go to Plans & Billing to upgrade or purchase credits.");
  }
  SECTION("overloaded, said in its stream") {
    refused = http_reply::sse().send(
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,"
        "\"completion_tokens\":0}}\n\ndata: {\"error\":{\"message\":"
        "\"Overloaded\",\"type\":\"overloaded_error\"}}\n\n");
  }
  SECTION("unreachable") { url = "http://127.0.0.1:1/v1"; }
  folder.configure(url,
                   "fallback = [\"gone\", \"vllm/big\"]\n"
                   "[models.gone]\nbase_url = \"http://127.0.0.1:1/v1\"\n"
                   "api_key_env = \"\"\n"
                   "[models.\"vllm/big\"]\nbase_url = \"" +
                       second.url("/v1") + "\"\n");
  const auto end =
      riffle::testing::riffle(folder, {"run", "go", "--output", "jsonl"});
  INFO(end.err);
  const auto events = checked_events(end.out);
  CHECK(end.status == 0);
  CHECK(of_type(events, "final_answer").at(0).at("data").at("content") ==
        "from the other");
  CHECK(of_type(events, "retry").empty());
  std::string said;
  for (const auto& one : of_type(events, "status"))
    said += one.at("data").at("text").get<std::string>() + "\n";
  CHECK_THAT(said, Contains("model default does not answer") &&
                       Contains("gone is asked instead") &&
                       Contains("model gone does not answer") &&
                       Contains("vllm/big is asked instead"));
  CHECK(second.request_count() == 2);  // it stays with it
  CHECK(json::parse(second.requests().at(0).body).at("model") == "big");
  CHECK(first.request_count() <= 1);
}

TEST_CASE("a model that takes over in mid run was told everything") {
  const work_folder folder;
  folder.write("a.txt", "A");
  http_server second{respond_sse(answer("from the other"))};
  http_server first{[](const http_request& request) {
    if (tool_messages(request).empty())
      return respond_sse(calls({{"read", {{"path", "a.txt"}}}}));
    return http_reply::text("overloaded", 529);
  }};
  const auto x = run(folder, first,
                     "fallback = [\"vllm/x\"]\n[models.\"vllm/x\"]\n"
                     "base_url = \"" +
                         second.url("/v1") + "\"\n");
  CHECK(answer_of(x) == "from the other");
  REQUIRE(second.request_count() == 1);
  check_results(second.requests().at(0));
  REQUIRE(tool_messages(second.requests().at(0)).size() == 1);
  auto told = body_of(first, 1);
  auto other = body_of(second, 0);
  CHECK(told.at("messages") == other.at("messages"));
  CHECK(told.at("tools") == other.at("tools"));
}

TEST_CASE("no other model is asked in the middle of an answer") {
  const work_folder folder;
  http_server second{respond_sse(answer("from the other"))};
  http_server first{respond_sse(
      say("half ") + "data: {\"error\":{\"message\":\"overloaded\"}}\n\n")};
  folder.configure(first.url("/v1"),
                   "retry = { max_attempts = 1 }\nfallback = [\"vllm/x\"]\n"
                   "[models.\"vllm/x\"]\nbase_url = \"" +
                       second.url("/v1") + "\"\n");
  const auto end = riffle::testing::riffle(folder, {"run", "go"});
  CHECK(end.status == 1);
  CHECK(second.request_count() == 0);
}

TEST_CASE("when no model answers the first one is tried again") {
  const work_folder folder;
  http_server second{http_reply::text("busy", 503)};
  http_server first{http_reply::text("busy", 503),
                    respond_sse(answer("at last"))};
  const auto x = run(folder, first,
                     "retry = { base = \"10ms\" }\nfallback = [\"vllm/x\"]\n"
                     "[models.\"vllm/x\"]\nbase_url = \"" +
                         second.url("/v1") + "\"\n");
  CHECK(answer_of(x) == "at last");
  CHECK(of_type(x.events, "retry").size() == 1);
  CHECK(first.request_count() == 2);
  CHECK(second.request_count() == 1);
}

TEST_CASE("a fallback without its key is told before anything starts") {
  const work_folder folder;
  http_server server{respond_sse(answer("ok"))};
  folder.configure(server.url("/v1"), "fallback = [\"groq/x\"]\n");
  const auto end =
      riffle::testing::riffle(folder, {"run", "go"}, {{"GROQ_API_KEY", ""}});
  CHECK(end.status == 2);
  CHECK_THAT(end.err, Contains("GROQ_API_KEY"));
  CHECK(server.request_count() == 0);
}
