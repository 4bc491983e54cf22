// SPDX-License-Identifier: MIT
#include "tests/e2e/program.hpp"
#include "tests/support/canary.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

bool has_results(const http_request& request) {
  return !tool_messages(request).empty();
}

}  // namespace

TEST_CASE("a question about a folder is answered through an HTTP server") {
  const work_folder folder;
  folder.write("notes.txt", "the answer is 42\nsecond line\n");
  http_server server{[](const http_request& request) {
    if (!has_results(request))
      return respond_sse(calls({{"read", {{"path", "notes.txt"}}}}));
    const auto told = tool_messages(request).at(0).at("content");
    return respond_sse(answer("It says: " + told.get<std::string>()));
  }};
  folder.configure(server.url("/v1"));
  const auto end =
      riffle::testing::riffle(folder, {"run", "What do the notes say?"});
  CHECK(end.status == 0);
  CHECK(end.out.starts_with("It says: the answer is 42"));
  CHECK(end.err.find("[TOOL] read: notes.txt (2 lines, 29 B)") !=
        std::string::npos);
  const auto requests = server.requests();
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].header("authorization") ==
        "Bearer " + std::string{provider_key});
  CHECK(requests[0].target == "/v1/chat/completions");
  const auto body = json::parse(requests[0].body);
  CHECK(body.at("stream") == true);
  CHECK(body.at("model") == "gpt-4.1-mini");
  CHECK(body.at("messages").at(1) ==
        json{{"role", "user"}, {"content", "What do the notes say?"}});
  check_results(requests[1]);
}

TEST_CASE("a read starts and ends while the model still speaks") {
  const work_folder folder;
  folder.write("a.txt", "content of a\n");
  http_server server{[](const http_request& request) {
    if (has_results(request)) return respond_sse(answer("done"));
    auto reply =
        http_reply::sse().send(call(0, "id0", "read", {{"path", "a.txt"}}));
    for (int i = 0; i < 20; ++i)
      reply.send(say("word " + std::to_string(i) + ". ")).pause(100ms);
    return std::move(reply).send(finish("tool_calls") + done_mark);
  }};
  folder.configure(server.url("/v1"), "[publish]\nbatching = \"token\"\n");
  const auto end =
      riffle::testing::riffle(folder, {"run", "go", "--output", "jsonl"});
  REQUIRE(end.status == 0);
  const auto events = checked_events(end.out);
  const auto results = of_type(events, "tool_result");
  REQUIRE(results.size() == 1);
  std::uint64_t last_token = 0;
  for (const auto& e : of_type(events, "llm_token"))
    if (e.at("data").at("step") == 1) last_token = e.at("seq");
  CHECK(results[0].at("seq").get<std::uint64_t>() < last_token);
  CHECK(results[0].at("data").at("output") == "content of a\n");
}

TEST_CASE("a turn without a safe finish starts no mutating call") {
  struct way {
    std::string name;
    std::string end;  ///< what comes after the complete call
    bool cut;
    std::string outcome;
  };
  const way ways[] = {
      {"length", finish("length") + done_mark, false, "skipped"},
      {"content_filter", finish("content_filter") + done_mark, false,
       "skipped"},
      {"no finish", done_mark, false, "skipped"},
      {"cut", "", true, "interrupted"},
  };
  for (const auto& way : ways) {
    DYNAMIC_SECTION(way.name) {
      const work_folder folder;
      int request_number = 0;
      http_server server{[&](const http_request&) {
        if (request_number++ > 0) return respond_sse(answer("ended"));
        auto reply = http_reply::sse().send(
            call(0, "id0", "bash", {{"command", "echo acted >> effect.txt"}}));
        // Another index began: the call is complete beyond doubt.
        reply.send(call(1, "id1", "read", {{"path", "none.txt"}}));
        if (way.cut) return std::move(reply).cut();
        return std::move(reply).send(way.end);
      }};
      folder.configure(server.url("/v1"),
                       "retry = { max_attempts = 2, base = \"10ms\" }\n");
      const auto end = riffle::testing::riffle(
          folder, {"run", "go", "--approve", "all", "--output", "jsonl"});
      CHECK(end.status == 0);
      CHECK(folder.read("effect.txt").empty());
      const auto events = checked_events(end.out);
      bool seen = false;
      for (const auto& e : of_type(events, "tool_result")) {
        if (e.at("data").at("tool") != "bash") continue;
        seen = true;
        CHECK(e.at("data").at("outcome") == way.outcome);
      }
      CHECK(seen);
      for (const auto& request : server.requests()) check_results(request);
    }
  }
}

TEST_CASE("an answer that the provider cut off does not look whole") {
  const auto reason =
      GENERATE(as<std::string>{}, "stop", "length", "content_filter");
  const bool cut = reason != "stop";
  CAPTURE(reason);
  const work_folder folder;
  http_server server{[&](const http_request&) {
    return respond_sse(say("The first half") + finish(reason) + done_mark);
  }};
  folder.configure(server.url("/v1"));
  const auto shown = riffle::testing::riffle(folder, {"run", "go"});
  CHECK(shown.status == 0);
  CHECK(shown.out == "The first half\n");
  // In one wording, of one run and of several.
  const std::string told = "the answer was cut off";
  CHECK((shown.err.find("riffle: " + told + " by a limit of the model") !=
         std::string::npos) == cut);
  const auto several = riffle::testing::riffle(folder, {"run", "a b", "c d"});
  CHECK((several.err.find(", " + told + ")") != std::string::npos) == cut);
  const auto object =
      riffle::testing::riffle(folder, {"run", "go", "--output", "json"});
  CHECK(json::parse(object.out).at("results").at(0).value("truncated", false) ==
        cut);
  const auto lines =
      riffle::testing::riffle(folder, {"run", "go", "--output", "jsonl"});
  const auto last = of_type(checked_events(lines.out), "final_answer").at(0);
  CHECK(last.at("data").value("truncated", false) == cut);
}

TEST_CASE("an answer that was cut off within its reasoning is told as cut") {
  const auto reason = GENERATE(as<std::string>{}, "stop", "length");
  const bool cut = reason == "length";
  CAPTURE(reason);
  const work_folder folder;
  http_server server{[&](const http_request&) {
    return respond_sse(
        R"(data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]})"
        "\n\n" +
        finish(reason) + done_mark);
  }};
  folder.configure(server.url("/v1"));
  const auto shown = riffle::testing::riffle(folder, {"run", "go"});
  CHECK(shown.out == "The model gave no answer.\n");
  CHECK((shown.err.find("the answer was cut") != std::string::npos) == cut);
  const auto lines =
      riffle::testing::riffle(folder, {"run", "go", "--output", "jsonl"});
  const auto last = of_type(checked_events(lines.out), "final_answer").at(0);
  CHECK(last.at("data").value("truncated", false) == cut);
}

TEST_CASE("mutating calls are denied without approval, and the model is told") {
  const work_folder folder;
  http_server server{[](const http_request& request) {
    if (has_results(request)) return respond_sse(answer("as you wish"));
    return respond_sse(calls({{"bash", {{"command", "touch effect.txt"}}}}));
  }};
  folder.configure(server.url("/v1"));
  const auto end =
      riffle::testing::riffle(folder, {"run", "go", "--output", "jsonl"});
  CHECK(end.status == 3);  // nobody could be asked
  CHECK_FALSE(std::filesystem::exists(folder.path() / "effect.txt"));
  const auto events = checked_events(end.out);
  const auto results = of_type(events, "tool_result");
  REQUIRE(results.size() == 1);
  CHECK(results[0].at("data").at("outcome") == "denied");
  CHECK(results[0].at("data").at("error").at("code") == "approval_denied");
  REQUIRE(of_type(events, "approval_resolved").size() == 1);
  const auto told = tool_messages(server.requests().at(1)).at(0);
  CHECK(told.at("content").get<std::string>().find("needs approval") !=
        std::string::npos);
}

TEST_CASE("mutating calls run one by one, in the model's order") {
  const work_folder folder;
  http_server server{[](const http_request& request) {
    if (has_results(request)) return respond_sse(answer("ok"));
    std::vector<std::pair<std::string, json>> all;
    for (const auto* n : {"0.2", "0.1", "0"})
      all.emplace_back(
          "bash", json{{"command", std::string{"echo begin >> log; sleep "} +
                                       n + "; echo end >> log"}});
    return respond_sse(calls(all));
  }};
  folder.configure(server.url("/v1"));
  const auto end = riffle::testing::riffle(
      folder, {"run", "go", "--approve", "all", "--output", "jsonl"});
  CHECK(end.status == 0);
  CHECK(folder.lines("log") == std::vector<std::string>{"begin", "end", "begin",
                                                        "end", "begin", "end"});
  checked_events(end.out);
  check_results(server.requests().at(1));
}

TEST_CASE("results go to the model in the order of its calls") {
  const work_folder folder;
  folder.write("a.txt", "A");
  folder.write("b.txt", "B");
  http_server server{[](const http_request& request) {
    if (has_results(request)) return respond_sse(answer("ok"));
    return respond_sse(calls({{"bash", {{"command", "sleep 0.2; echo slow"}}},
                              {"read", {{"path", "a.txt"}}},
                              {"nonsense", json::object()},
                              {"read", {{"path", 7}}},
                              {"read", {{"path", "b.txt"}}}}));
  }};
  folder.configure(server.url("/v1"));
  const auto end = riffle::testing::riffle(
      folder, {"run", "go", "--approve", "all", "--output", "jsonl"});
  CHECK(end.status == 0);
  checked_events(end.out);
  const auto request = server.requests().at(1);
  check_results(request);
  const auto told = tool_messages(request);
  REQUIRE(told.size() == 5);
  CHECK(told[0].at("content") == "slow\n");
  CHECK(told[1].at("content") == "A");
  CHECK(told[2].at("content").get<std::string>().find("tool_not_found") !=
        std::string::npos);
  CHECK(told[3].at("content").get<std::string>().find("invalid_arguments") !=
        std::string::npos);
  CHECK(told[4].at("content") == "B");
}
