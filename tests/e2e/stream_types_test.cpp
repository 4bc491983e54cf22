// SPDX-License-Identifier: MIT
// A good stream is understood whatever its server calls it, also by the
// program itself.
#include <map>
#include <string>

#include "tests/e2e/program.hpp"
#include "tests/e2e/stream_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

std::string typed(const json& x) {
  return "event: " + x.at("type").get<std::string>() + "\ndata: " + x.dump() +
         "\n\n";
}

std::string claude_stream(const std::string& tail) {
  return typed({{"type", "message_start"}, {"message", {{"id", "m"}}}}) +
         typed({{"type", "content_block_start"},
                {"index", 0},
                {"content_block", {{"type", "text"}, {"text", ""}}}}) +
         typed({{"type", "content_block_delta"},
                {"index", 0},
                {"delta", {{"type", "text_delta"}, {"text", "h\u00e9llo"}}}}) +
         tail;
}

const std::string claude_end =
    typed({{"type", "content_block_stop"}, {"index", 0}}) +
    typed(
        {{"type", "message_delta"}, {"delta", {{"stop_reason", "end_turn"}}}}) +
    typed({{"type", "message_stop"}});

/// "héllo" in each dialect, whole, and where the stream breaks off.
struct hello {
  std::string whole;
  std::string broken;
};

std::map<std::string, hello> hellos() {
  const auto says = typed({{"type", "response.output_text.delta"},
                           {"output_index", 0},
                           {"content_index", 0},
                           {"delta", "h\u00e9llo"}});
  const std::string line = R"({"message":{"role":"assistant","content":"h)"
                           "\u00e9"
                           R"(llo"},"done":false})"
                           "\n";
  return {
      {"openai", {answer("h\u00e9llo"), say("h\u00e9llo")}},
      {"anthropic", {claude_stream(claude_end), claude_stream("")}},
      {"responses",
       {says + typed({{"type", "response.completed"},
                      {"response", {{"status", "completed"}}}}),
        says}},
      {"ollama",
       {line + R"({"message":{"content":""},"done":true,"done_reason":"stop"})"
               "\n",
        line}},
  };
}

}  // namespace

TEST_CASE("a good stream under a wrong content type is understood") {
  for (const auto& [dialect, bodies] : hellos())
    for (const char* type :
         {"text/event-stream; charset=utf-8", "application/x-ndjson",
          "application/octet-stream", "text/plain", "text/html",
          "application/json", "nonsense", ""})
      for (const std::size_t piece : {0, 1}) {
        CAPTURE(dialect, type, piece);
        const auto good =
            understand(dialect, streamed(bodies.whole, piece, type));
        CHECK(good.failure.empty());
        CHECK(good.text == "h\u00e9llo");
        CHECK(good.answer == "h\u00e9llo");
        const auto bad =
            understand(dialect, streamed(bodies.broken, piece, type));
        CHECK(bad.failure == "stream_interrupted");
        CHECK(bad.text == "h\u00e9llo");
      }
}

TEST_CASE(
    "the program understands a stream of each dialect, and a broken one") {
  for (const auto& [dialect, bodies] : hellos())
    for (const bool whole : {true, false}) {
      CAPTURE(dialect, whole);
      const work_folder folder;
      auto server = model_server(
          dialect, streamed(whole ? bodies.whole : bodies.broken, 7));
      folder.configure(server.url("/v1"),
                       "dialect = \"" + dialect +
                           "\"\nmodel = \"m\"\nretry = { max_attempts = 1 }\n");
      const auto end =
          riffle::testing::riffle(folder, {"run", "go", "--output", "jsonl"});
      CAPTURE(end.err);
      CHECK(end.status == (whole ? 0 : 1));
      const auto got = understood_of(checked_events(end.out));
      CHECK(got.text == "h\u00e9llo");
      CHECK(got.answer == (whole ? "h\u00e9llo" : ""));
      CHECK(got.failure == (whole ? "" : "stream_interrupted"));
    }
}
