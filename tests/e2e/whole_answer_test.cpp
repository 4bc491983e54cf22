// SPDX-License-Identifier: MIT
// Servers that answer in one JSON document: because they were asked to, or
// because they cannot stream.
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

/// A whole `chat.completion`.
std::string document(json message, const std::string& reason) {
  message["role"] = "assistant";
  return json{{"id", "c"},
              {"object", "chat.completion"},
              {"choices",
               {{{"index", 0},
                 {"message", std::move(message)},
                 {"finish_reason", reason}}}},
              {"usage", {{"prompt_tokens", 10}, {"completion_tokens", 5}}}}
      .dump();
}

json call_of(const std::string& id, const std::string& path) {
  return {{"id", id},
          {"type", "function"},
          {"function",
           {{"name", "read"}, {"arguments", json{{"path", path}}.dump()}}}};
}

const std::string speech = "First part. Second part! And a third";

struct seen {
  finished end;
  std::vector<json> events;
};

seen run(const work_folder& folder, const http_server& server,
         const std::string& more) {
  folder.configure(server.url("/v1"), more);
  auto end =
      riffle::testing::riffle(folder, {"run", "go", "--output", "jsonl"});
  INFO(end.err);
  auto events = checked_events(end.out);
  return {std::move(end), std::move(events)};
}

}  // namespace

TEST_CASE("a model that does not stream gives the same events") {
  // Asked not to stream, or asked to and unable: the same.
  for (const std::string more : {"streaming = false\n", ""}) {
    DYNAMIC_SECTION("with: " << more) {
      const work_folder folder;
      folder.write("a.txt", "A");
      folder.write("b.txt", "B");
      http_server server{
          http_reply::json(document(
              {{"content", "Looking."},
               {"tool_calls", {call_of("1", "a.txt"), call_of("2", "b.txt")}}},
              "tool_calls")),
          http_reply::json(document({{"content", speech}}, "stop"))};
      const auto x = run(folder, server, more);
      CHECK(x.end.status == 0);
      const auto asked = json::parse(server.requests().at(0).body);
      CHECK(asked.at("stream") == more.empty());
      check_results(server.requests().at(1));
      const auto results = of_type(x.events, "tool_result");
      REQUIRE(results.size() == 2);
      for (const auto& r : results) CHECK(r.at("data").at("outcome") == "ok");
      const auto told = tool_messages(server.requests().at(1));
      CHECK(told.at(0).at("content").get<std::string>().starts_with("A"));
      CHECK(told.at(1).at("content").get<std::string>().starts_with("B"));
      const auto texts = of_type(x.events, "llm_token");
      REQUIRE(texts.size() == 2);  // one for each answer
      CHECK(texts[0].at("data").at("content") == "Looking.");
      CHECK(texts[1].at("data").at("content") == speech);
      const auto usage = of_type(x.events, "usage");
      REQUIRE(usage.size() == 2);
      for (const auto& u : usage) {
        CHECK(u.at("data").at("input_tokens") == 10);
        CHECK(u.at("data").at("output_tokens") == 5);
        CHECK_FALSE(u.at("data").contains("estimated"));
      }
      CHECK(of_type(x.events, "final_answer").at(0).at("data").at("content") ==
            speech);
      const auto end = of_type(x.events, "run_finished").at(0).at("data");
      CHECK(end.at("usage").at("input_tokens") == 20);
    }
  }
}

TEST_CASE("a whole answer that was cut starts no call that changes things") {
  const work_folder folder;
  auto write = call_of("1", "x");
  write["function"] = {{"name", "bash"},
                       {"arguments", R"({"command":"touch made"})"}};
  http_server server{
      http_reply::json(
          document({{"content", "Well."}, {"tool_calls", {write}}}, "length")),
      http_reply::json(document({{"content", "done"}}, "stop"))};
  folder.configure(server.url("/v1"),
                   "streaming = false\n[tools.bash]\napproval = \"allow\"\n");
  const auto end =
      riffle::testing::riffle(folder, {"run", "go", "--output", "jsonl"});
  checked_events(end.out);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "made"));
}

TEST_CASE("errors in JSON bodies are told, and tried again where it helps") {
  const std::string quick = "retry = { max_attempts = 2, base = \"10ms\" }\n";
  const auto good = http_reply::json(document({{"content", "ok"}}, "stop"));
  struct way {
    std::string name;
    http_reply bad;
    bool again;
    std::string words;
  };
  const way ways[] = {
      {"a server error with status 200",
       http_reply::json(R"({"error":{"message":"overloaded","code":503}})"),
       true, "overloaded"},
      {"a refusal with status 200",
       http_reply::json(R"({"error":{"message":"no key","code":401}})"), false,
       "no key"},
      {"a status with a JSON body",
       http_reply::json(R"({"error":{"message":"on fire"}})", 500), true,
       "on fire"},
      {"half a document", http_reply::json(R"({"choices":[{"index":0)"), true,
       "no JSON"},
      {"a document that is no answer", http_reply::json(R"({"detail":"lost"})"),
       true, "lost"},
  };
  for (const auto& way : ways) {
    DYNAMIC_SECTION(way.name) {
      const work_folder folder;
      http_server server{way.bad, way.again ? good : way.bad};
      const auto x = run(folder, server, "streaming = false\n" + quick);
      CHECK(x.end.status == (way.again ? 0 : 1));
      CHECK(server.request_count() == (way.again ? 2 : 1));
      CHECK(x.end.out.find(way.words) != std::string::npos);
    }
  }
}
