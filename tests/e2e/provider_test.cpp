// SPDX-License-Identifier: MIT
// Providers that fail, and what a person sees of it.
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

constexpr const char* quick =
    "retry = { max_attempts = 3, base = \"10ms\" }\n"
    "timeouts = { connect = \"2s\", first_byte = \"2s\", idle = \"300ms\", "
    "total = \"10s\" }\n";

struct seen {
  finished end;
  std::vector<json> events;
};

seen run(const work_folder& folder, const http_server& server) {
  folder.configure(server.url("/v1"), quick);
  auto end =
      riffle::testing::riffle(folder, {"run", "go", "--output", "jsonl"});
  auto events = checked_events(end.out);
  return {std::move(end), std::move(events)};
}

json last_error(const std::vector<json>& events) {
  const auto errors = of_type(events, "error");
  return errors.empty() ? json{} : errors.back().at("data");
}

}  // namespace

TEST_CASE("a server error is tried again") {
  const work_folder folder;
  http_server server{http_reply::text("oops", 500),
                     http_reply::text("oops", 503),
                     respond_sse(answer("at last"))};
  const auto x = run(folder, server);
  CHECK(x.end.status == 0);
  CHECK(of_type(x.events, "retry").size() == 2);
  CHECK(of_type(x.events, "final_answer").at(0).at("data").at("content") ==
        "at last");
  CHECK(server.request_count() == 3);
}

TEST_CASE("attempts are limited, and the last error is told") {
  const work_folder folder;
  http_server server{
      http_reply::json(R"({"error":{"message":"the model is on fire"}})", 500)};
  const auto x = run(folder, server);
  CHECK(x.end.status == 1);
  CHECK(server.request_count() == 3);
  CHECK(last_error(x.events).at("code") == "model_error");
  CHECK(last_error(x.events).at("message").get<std::string>().find("on fire") !=
        std::string::npos);
}

TEST_CASE("Retry-After is respected") {
  const work_folder folder;
  http_server server{
      http_reply::text("slow down", 429).header("Retry-After", "1"),
      respond_sse(answer("ok"))};
  const auto x = run(folder, server);
  CHECK(x.end.status == 0);
  const auto retries = of_type(x.events, "retry");
  REQUIRE(retries.size() == 1);
  CHECK(retries[0].at("data").at("delay_ms").get<int>() >= 1000);
}

TEST_CASE("a refused request is not tried again") {
  const work_folder folder;
  http_server server{http_reply::json(
      R"({"error":{"message":"bad key","type":"invalid_request_error"}})",
      401)};
  const auto x = run(folder, server);
  CHECK(x.end.status == 1);
  CHECK(server.request_count() == 1);
  CHECK(last_error(x.events).at("code") == "model_error");
}

TEST_CASE("a stream that breaks is withdrawn and asked for again") {
  struct way {
    std::string name;
    http_reply broken;
  };
  const auto begin = [] {
    return http_reply::sse().send(say("wrong words. "));
  };
  const way ways[] = {
      {"cut", begin().cut()},
      {"reset", begin().reset()},
      {"stall", begin().stall()},
      {"garbage event", begin().send("data: {nonsense\n\n").send(done_mark)},
      {"end without a finish", begin()},
      {"half event", begin().send("data: {\"choi").cut()},
      {"openai error",
       begin().send("data: {\"error\":{\"message\":\"overloaded\",\"type\":"
                    "\"server_error\"}}\n\n")},
      {"vllm error",
       begin().send("data: {\"object\":\"error\",\"message\":\"boom\",\"code\":"
                    "500}\n\n")},
      {"error event",
       begin().send("event: error\ndata: {\"message\":\"boom\"}\n\n")},
  };
  for (const auto& way : ways) {
    DYNAMIC_SECTION(way.name) {
      const work_folder folder;
      http_server server{way.broken, respond_sse(answer("right words"))};
      const auto x = run(folder, server);
      CHECK(x.end.status == 0);
      const auto restarts = of_type(x.events, "step_restarted");
      REQUIRE(restarts.size() == 1);
      CHECK(restarts[0].at("data").at("attempt") == 2);
      CHECK(of_type(x.events, "final_answer").at(0).at("data").at("content") ==
            "right words");
    }
  }
}

TEST_CASE("an answer that is no stream gives a clear error") {
  const std::pair<std::string, http_reply> ways[] = {
      {"HTML",
       http_reply::text("<html><body>Welcome</body></html>", 200, "text/html")},
      {"empty", http_reply::text("", 200, "text/event-stream")},
      {"no HTTP", http_reply::garbage("\x01\x02 nonsense\r\n\r\n")},
  };
  for (const auto& [name, reply] : ways) {
    DYNAMIC_SECTION(name) {
      const work_folder folder;
      http_server server{reply};
      const auto x = run(folder, server);
      CHECK(x.end.status == 1);
      CHECK_FALSE(
          last_error(x.events).at("message").get<std::string>().empty());
    }
  }
}

TEST_CASE("a dead port is told with what to do") {
  const work_folder folder;
  folder.configure("http://127.0.0.1:" + std::to_string(dead_port()) + "/v1",
                   quick);
  const auto end = riffle::testing::riffle(folder, {"run", "go"});
  CHECK(end.status == 1);
  CHECK(end.err.find("model_unreachable") != std::string::npos);
}

TEST_CASE("finished reads are reused when the step starts again") {
  const work_folder folder;
  folder.write("a.txt", "content");
  int number = 0;
  http_server server{[&](const http_request&) {
    switch (number++) {
      case 0:
        // The pause lets the read settle before the cut.
        return http_reply::sse()
            .send(call(0, "x", "read", {{"path", "a.txt"}}))
            .pause(500ms)
            .cut();
      case 1: return respond_sse(calls({{"read", {{"path", "a.txt"}}}}));
      default: return respond_sse(answer("ok"));
    }
  }};
  folder.configure(server.url("/v1"), "retry = { base = \"10ms\" }\n");
  const auto end =
      riffle::testing::riffle(folder, {"run", "go", "--output", "jsonl"});
  CHECK(end.status == 0);
  const auto results = of_type(checked_events(end.out), "tool_result");
  REQUIRE(results.size() == 2);
  CHECK(results[1].at("data").at("metadata").at("reused_from") ==
        results[0].at("data").at("id"));
}
