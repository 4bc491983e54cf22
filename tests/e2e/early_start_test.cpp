// SPDX-License-Identifier: MIT
// A call that only reads runs from its own end on, wherever a dialect says it;
// one that changes something waits for the end of the turn.
#include <map>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

std::string event(const json& x) {
  return "event: " + x.at("type").get<std::string>() + "\ndata: " + x.dump() +
         "\n\n";
}

struct answer_parts {
  std::string calls;  ///< with their ends
  std::string end;    ///< a text, and the end of the whole
};

/// A call without arguments of each tool. Nothing but the block's end tells
/// that nothing follows.
answer_parts anthropic() {
  answer_parts out;
  int index = 0;
  for (const auto* tool : {"look", "change"}) {
    out.calls += event({{"type", "content_block_start"},
                        {"index", index},
                        {"content_block",
                         {{"type", "tool_use"},
                          {"id", tool},
                          {"name", tool},
                          {"input", json::object()}}}}) +
                 event({{"type", "content_block_stop"}, {"index", index}});
    ++index;
  }
  out.end =
      event({{"type", "content_block_start"},
             {"index", index},
             {"content_block", {{"type", "text"}, {"text", "Behind."}}}}) +
      event({{"type", "content_block_stop"}, {"index", index}}) +
      event({{"type", "message_delta"},
             {"delta", {{"stop_reason", "tool_use"}}}}) +
      event({{"type", "message_stop"}});
  return out;
}

/// The ends of the items come with the end of the whole.
answer_parts responses() {
  answer_parts out;
  out.end = event({{"type", "response.output_text.delta"},
                   {"output_index", 2},
                   {"delta", "Behind."}});
  int index = 0;
  for (const auto* tool : {"look", "change"}) {
    json item = {{"type", "function_call"},
                 {"call_id", tool},
                 {"name", tool},
                 {"arguments", ""}};
    const auto part = [&](const char* type, const char* key,
                          const json& value) {
      return event({{"type", type}, {"output_index", index}, {key, value}});
    };
    out.calls +=
        part("response.output_item.added", "item", item) +
        part("response.function_call_arguments.done", "arguments", "{}");
    item["arguments"] = "{}";
    out.end += part("response.output_item.done", "item", item);
    ++index;
  }
  out.end += event({{"type", "response.completed"},
                    {"response", {{"status", "completed"}}}});
  return out;
}

http_reply answer_of(const std::string& dialect) {
  if (dialect == "responses")
    return respond_sse(event({{"type", "response.output_text.delta"},
                              {"output_index", 0},
                              {"delta", "ok"}}) +
                       event({{"type", "response.completed"},
                              {"response", {{"status", "completed"}}}}));
  return respond_sse(
      event({{"type", "content_block_start"},
             {"index", 0},
             {"content_block", {{"type", "text"}, {"text", "ok"}}}}) +
      event({{"type", "content_block_stop"}, {"index", 0}}) +
      event({{"type", "message_delta"},
             {"delta", {{"stop_reason", "end_turn"}}}}));
}

}  // namespace

TEST_CASE("a call starts at its own end, before the message's") {
  const std::string dialect = GENERATE("anthropic", "responses");
  INFO(dialect);
  const auto parts = dialect == "anthropic" ? anthropic() : responses();
  const work_folder folder;
  http_server server{
      http_reply::sse().send(parts.calls).stall().send(parts.end),
      answer_of(dialect)};
  folder.configure(server.url("/v1"),
                   "dialect = \"" + dialect +
                       "\"\nmodel = \"m\"\n"
                       "[agents.default]\ntools = [\"look\", \"change\"]\n"
                       "[tools.look]\ntype = \"command\"\n"
                       "command = [\"sh\", \"-c\", \"touch looked\"]\n"
                       "description = \"x\"\neffect = \"read_only\"\n"
                       "parameters = { type = \"object\" }\n"
                       "[tools.change]\ntype = \"command\"\n"
                       "command = [\"sh\", \"-c\", \"touch changed\"]\n"
                       "description = \"x\"\napproval = \"allow\"\n"
                       "parameters = { type = \"object\" }\n");
  program running{installed_riffle(), folder, {"run", "--session", "s1", "go"}};
  const auto there = [&](const char* name) {
    return std::filesystem::exists(folder.path() / name);
  };
  CHECK(eventually([&] { return there("looked"); }));
  // Its result is told while the message has not ended.
  CHECK(eventually([&] {
    const auto log =
        riffle::testing::riffle(folder, {"sessions", "events", "s1"});
    return log.out.find("\"tool_result\"") != log.out.npos;
  }));
  CHECK_FALSE(there("changed"));
  server.release();
  const auto end = running.wait();
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK(there("changed"));
  // It began behind what the model said last, not only after a while.
  const auto log =
      riffle::testing::riffle(folder, {"sessions", "events", "s1"});
  std::vector<std::string> order;
  for (const auto& x : checked_events(log.out)) {
    const auto& data = x.at("data");
    if (x.at("event_type") == "llm_token") order.push_back(data.at("content"));
    if (x.at("event_type") == "tool_call") order.push_back(data.at("tool"));
  }
  CHECK(order == std::vector<std::string>{"look", "Behind.", "change", "ok"});
}
