// SPDX-License-Identifier: MIT
// A conversation that is too long for a model is shortened and asked once more,
// in whichever words and shape its provider says so.
#include <map>
#include <thread>

#include "tests/e2e/wire_servers.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using Catch::Matchers::Contains;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

/// As they are quoted; all but one with status 400.
const std::map<std::string, std::string>& too_long() {
  static const std::map<std::string, std::string> all{
      {"anthropic",
       R"({"type":"error","error":{"type":"invalid_request_error",)"
       R"("message":"prompt is too long: 200251 tokens > 200000 maximum"}})"},
      {"ollama", R"({"error":"the input length exceeds the context length"})"},
      {"deepseek",
       R"({"error":{"message":"This model's maximum context length is 65536 )"
       R"(tokens. However, you requested 70000 tokens.",)"
       R"("type":"invalid_request_error","code":"invalid_request_error"}})"},
      {"kimi",
       R"({"error":{"message":"Invalid request: Your request exceeded model )"
       R"(token limit: 8192","type":"invalid_request_error"}})"},
      {"gemini",
       R"([{"error":{"code":400,"message":"The input token count (1048577) )"
       R"(exceeds the maximum number of tokens allowed (1048576).",)"
       R"("status":"INVALID_ARGUMENT"}}])"},
      {"openrouter",
       R"({"error":{"message":"This endpoint's maximum context length is )"
       R"(32768 tokens. However, you requested about 40000 tokens",)"
       R"("code":400}})"},
      {"mistral",
       R"({"object":"error","message":"Prompt contains 40000 tokens, too )"
       R"(large for model with 32768 maximum context length",)"
       R"("type":"invalid_request_error","param":null,"code":"3051"})"},
      {"groq",
       R"({"error":{"message":"Please reduce the length of the messages or )"
       R"(completion.","type":"invalid_request_error",)"
       R"("code":"context_length_exceeded"}})"},
      {"cerebras", R"({"message":"Please reduce the length of the messages or )"
                   R"(completion. Current length is 8201 while limit is 8192",)"
                   R"("type":"invalid_request_error","param":"messages",)"
                   R"("code":"context_length_exceeded"})"},
      {"fireworks",
       R"({"error":{"object":"error","type":"invalid_request_error",)"
       R"("message":"The prompt is too long: 131073, model maximum context )"
       R"(length: 131072"}})"},
      {"vertex",
       R"([{"error":{"code":400,"message":"Unable to submit request because )"
       R"(the input token count is 1048577 but model only supports up to )"
       R"(1048576. Reduce the input token count and try again.",)"
       R"("status":"INVALID_ARGUMENT"}}])"},
      {"azure",
       R"({"error":{"message":"This model's maximum context length is 128000 )"
       R"(tokens. However, your messages resulted in 130011 tokens.",)"
       R"("type":"invalid_request_error","param":"messages",)"
       R"("code":"context_length_exceeded"}})"},
      {"xai",
       R"({"code":"Client specified an invalid argument","error":"This )"
       R"(model's maximum prompt length is 131072 but the request contains )"
       R"(200000 tokens."})"},
      // In a stream of status 200.
      {"responses-x",
       "event: response.failed\n"
       R"(data: {"type":"response.failed","response":{"status":"failed",)"
       R"("error":{"code":"context_length_exceeded","message":"Your input )"
       R"(exceeds the context window of this model. Please adjust your )"
       R"(input and try again."}}})"
       "\n\n"},
  };
  return all;
}

/// As a gateway passes on what the server behind it said.
http_reply routed(const std::string& text) {
  const json error = {{"message", "Provider returned error"},
                      {"code", 400},
                      {"metadata", {{"raw", text}, {"provider_name", "X"}}}};
  return http_reply::json(json{{"error", error}}.dump(), 400);
}

http_reply refusal_of(const wire_server& wire) {
  const auto& text = too_long().at(wire.model.substr(0, wire.model.find('/')));
  return wire.model == "responses-x" ? respond_sse(text)
                                     : http_reply::json(text, 400);
}

}  // namespace

TEST_CASE("too long is understood in each provider's shape") {
  const auto check = [](const wire_server& wire, const http_reply& refusal) {
    INFO(wire.model);
    const work_folder folder;
    bool refused = false;
    http_server server{[&](const http_request& request) {
      const auto step = wire.step(json::parse(request.body));
      if (step == 4 && !std::exchange(refused, true)) return refusal;
      // A status is told at most each 100 ms, and not behind the end.
      if (step == 4) std::this_thread::sleep_for(200ms);
      return wire.reply(step);
    }};
    configure_wires(folder, server.url("/v1"), {wire.model});
    for (int i = 0; i < wire_steps; ++i)
      folder.write("f" + std::to_string(i) + ".txt", std::string(3000, 'a'));
    auto env = wire_environment();
    env["RIFFLE_CONFIG"] = (folder.path() / "riffle.toml").string();
    const auto x = riffle::testing::riffle(
        folder, {"run", "-m", wire.model, "--output", "jsonl", "go"}, env);
    INFO(x.err << x.out);
    CHECK(x.status == 0);
    CHECK(refused);
    CHECK(server.request_count() == wire_steps + 2);
    const auto events = checked_events(x.out);
    CHECK(of_type(events, "retry").empty());
    std::string said;
    for (const auto& one : of_type(events, "status")) said += one.dump();
    CHECK_THAT(said, Contains("says that the conversation is too long"));
    const auto all = server.requests();
    CHECK(all[5].body.size() < all[4].body.size());
  };
  for (const auto& wire : wires()) {
    check(wire, refusal_of(wire));
    if (wire.model.starts_with("openrouter"))
      for (const auto* behind : {"mistral", "groq", "anthropic", "deepseek"})
        check(wire, routed(too_long().at(behind)));
  }
}
