// SPDX-License-Identifier: MIT
#include "tests/e2e/stream_world.hpp"

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "runtime/api/riffle.hpp"
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

namespace riffle::testing {

using namespace std::chrono_literals;
using nlohmann::json;

std::filesystem::path recorded_streams() {
  if (const char* named = std::getenv("RIFFLE_CORPUS")) return named;
  return std::filesystem::path{RIFFLE_SOURCE_DIR} / ".." / "shared" / "corpus";
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string dialect_of_protocol(const std::string& protocol) {
  if (protocol == "openai-chat") return "openai";
  return protocol == "openai-responses" ? "responses" : protocol;
}

http_reply streamed(const std::string& body, std::size_t piece,
                    const std::string& content_type) {
  http_reply reply{200, http_reply::framing::chunked};
  if (!content_type.empty()) reply.header("content-type", content_type);
  reply.send(body);
  if (piece > 0) reply.pieces(piece);
  return reply;
}

namespace {

/// An answer in one document: "end".
std::string last_answer(const std::string& dialect) {
  if (dialect == "anthropic")
    return R"({"id":"m2","type":"message","role":"assistant","content":[)"
           R"({"type":"text","text":"end"}],"stop_reason":"end_turn"})";
  if (dialect == "responses")
    return R"({"object":"response","status":"completed","output":[)"
           R"({"type":"message","role":"assistant","content":[)"
           R"({"type":"output_text","text":"end"}]}]})";
  if (dialect == "ollama")
    return R"({"message":{"role":"assistant","content":"end"},)"
           R"("done":true,"done_reason":"stop"})";
  return R"({"choices":[{"index":0,"message":{"role":"assistant",)"
         R"("content":"end"},"finish_reason":"stop"}]})";
}

}  // namespace

http_server model_server(const std::string& dialect, http_reply first) {
  const std::map<std::string, std::string> paths{
      {"openai", "/chat/completions"},
      {"anthropic", "/messages"},
      {"responses", "/responses"},
      {"ollama", "/api/chat"}};
  return http_server{
      [dialect, path = paths.at(dialect), first = std::move(first),
       number = std::make_shared<std::atomic<int>>(0)](const http_request& x) {
        if (!x.target.ends_with(path)) return http_reply::text("no", 404);
        return (*number)++ == 0 ? first
                                : http_reply::json(last_answer(dialect));
      }};
}

understood understood_of(const std::vector<json>& events) {
  understood out;
  std::map<std::string, std::string> names;
  for (const auto& e : events) {
    const auto& data = e.at("data");
    const auto type = e.at("event_type").get<std::string>();
    if (type == "run_finished" && data.contains("error"))
      out.failure = data.at("error").at("code");
    if (type == "final_answer") out.answer = data.at("content");
    if (data.value("step", 1) != 1) continue;
    if (type == "llm_token") out.text += data.at("content");
    if (type == "llm_reasoning") out.reasoning += data.at("content");
    if (type == "usage") out.usage = data;
    if (type == "tool_call") {
      names[data.at("id")] = data.at("tool");
      out.calls.emplace_back(data.at("tool"), data.at("arguments").is_null()
                                                  ? data.at("arguments_text")
                                                  : data.at("arguments"));
    }
    if (type == "tool_result" && data.contains("error"))
      out.results += names[data.at("id")] + " " +
                     data.at("error").at("code").get<std::string>() + ", ";
  }
  return out;
}

understood understand(const std::string& dialect, const http_reply& first) {
  auto server = model_server(dialect, first);
  riffle::config::config c;
  c.models["default"].dialect = dialect;
  c.models["default"].model = "m";
  c.models["default"].base_url = server.url("/v1");
  c.models["default"].retry.max_attempts = 1;
  c.agents["default"].tools.clear();
  c.publish.batching = "token";
  riffle::runtime_options options;
  options.journal = riffle::storage::make_memory_journal();
  auto runtime = riffle::runtime::create(std::move(c), std::move(options));
  REQUIRE(runtime);
  auto started = runtime->start({.task = "go"});
  REQUIRE(started);
  auto stream = started->events();
  std::string log;
  while (auto batch = stream.next(30s)) log += batch->lines();
  auto out = understood_of(checked_events(log));
  out.requests = server.request_count();
  return out;
}

}  // namespace riffle::testing
