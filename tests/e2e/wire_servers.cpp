// SPDX-License-Identifier: MIT
#include "tests/e2e/wire_servers.hpp"

#include "tests/support/catch.hpp"

namespace riffle::testing {

namespace {

using nlohmann::json;

std::string number(int step) { return std::to_string(step); }
std::string thought(int step) { return "thought " + number(step); }
std::string secret(int step) { return "secret+/" + number(step) + "=="; }
std::string argument_text(int step) {
  return R"({"path":"f)" + number(step) + R"(.txt","limit":9})";
}
json arguments(int step) { return json::parse(argument_text(step)); }

std::string event(const json& x) {
  return "event: " + x.at("type").get<std::string>() + "\ndata: " + x.dump() +
         "\n\n";
}

std::string differs(const char* what, const json& got, const json& want) {
  return got == want
             ? std::string{}
             : std::string{what} + " is not what was sent: " + got.dump() +
                   " is not " + want.dump();
}

json without_mark(json x) {
  for (auto& part : x)
    if (part.is_object()) part.erase("cache_control");
  return x;
}

/// Messages of an assistant, in order.
std::vector<json> said(const json& body) {
  std::vector<json> out;
  for (const auto& m : body.at("messages"))
    if (m.at("role") == "assistant") out.push_back(m);
  return out;
}

int results(const json& body, const char* role) {
  int n = 0;
  for (const auto& m : body.at("messages")) n += m.at("role") == role ? 1 : 0;
  return n;
}

// -- anthropic ----------------------------------------------------------------

int anthropic_step(const json& body) {
  int n = 0;
  for (const auto& m : body.at("messages"))
    if (m.at("role") == "user")
      for (const auto& part : m.at("content"))
        n += part.at("type") == "tool_result" ? 1 : 0;
  return n;
}

std::string anthropic_block(int index, const json& start, const json& delta) {
  return event({{"type", "content_block_start"},
                {"index", index},
                {"content_block", start}}) +
         event({{"type", "content_block_delta"},
                {"index", index},
                {"delta", delta}});
}

std::string anthropic_stop(int index) {
  return event({{"type", "content_block_stop"}, {"index", index}});
}

http_reply anthropic_reply(int step) {
  auto out =
      event({{"type", "message_start"}, {"message", {{"id", number(step)}}}});
  if (step == wire_steps) {
    out += anthropic_block(0, {{"type", "text"}, {"text", ""}},
                           {{"type", "text_delta"}, {"text", "all read"}});
    out += anthropic_stop(0);
  } else {
    out += anthropic_block(
        0, {{"type", "thinking"}, {"thinking", ""}, {"signature", ""}},
        {{"type", "thinking_delta"}, {"thinking", thought(step)}});
    out +=
        event({{"type", "content_block_delta"},
               {"index", 0},
               {"delta",
                {{"type", "signature_delta"}, {"signature", secret(step)}}}});
    out += anthropic_stop(0);
    out += anthropic_block(
        1,
        {{"type", "tool_use"},
         {"id", "toolu_" + number(step)},
         {"name", "read"},
         {"input", json::object()}},
        {{"type", "input_json_delta"}, {"partial_json", argument_text(step)}});
    out += anthropic_stop(1);
  }
  out +=
      event({{"type", "message_delta"},
             {"delta",
              {{"stop_reason", step == wire_steps ? "end_turn" : "tool_use"}}},
             {"usage", {{"output_tokens", 3}}}});
  return respond_sse(out + event({{"type", "message_stop"}}));
}

std::string anthropic_judge(const json& body) {
  if (!body.contains("max_tokens")) return "max_tokens is missing";
  const auto& all = body.at("messages");
  std::size_t marks = 0;
  const auto text = body.dump();
  for (auto at = text.find("cache_control"); at != text.npos;
       at = text.find("cache_control", at + 1))
    ++marks;
  if (marks < 3 || marks > 4) return "wrong number of cache_control";
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].at("role") != (i % 2 == 0 ? "user" : "assistant"))
      return "roles do not alternate";
  for (std::size_t i = 1; i + 1 < all.size(); i += 2) {
    const auto k = static_cast<int>(i / 2);
    const auto id = "toolu_" + number(k);
    const json want = {{{"type", "thinking"},
                        {"thinking", thought(k)},
                        {"signature", secret(k)}},
                       {{"type", "tool_use"},
                        {"id", id},
                        {"name", "read"},
                        {"input", arguments(k)}}};
    if (auto why = differs("a turn", all[i].at("content"), want); !why.empty())
      return why;
    const auto result = without_mark(all[i + 1].at("content"));
    if (result.size() != 1 || result[0].at("tool_use_id") != id)
      return "tool_use without its tool_result";
  }
  return {};
}

// -- responses ----------------------------------------------------------------

int responses_step(const json& body) {
  int n = 0;
  for (const auto& x : body.at("input"))
    n += x.value("type", "") == "function_call_output" ? 1 : 0;
  return n;
}

json responses_thought(int step) {
  return {{"type", "reasoning"},
          {"id", "rs_" + number(step)},
          {"summary", {{{"type", "summary_text"}, {"text", thought(step)}}}},
          {"encrypted_content", secret(step)}};
}

json responses_call(int step) {
  return {{"type", "function_call"},
          {"call_id", "call_" + number(step)},
          {"name", "read"},
          {"namespace", "n" + number(step)},
          {"arguments", argument_text(step)}};
}

http_reply responses_reply(int step) {
  std::string out;
  const auto item = [&](const char* type, int index, const json& x) {
    out += event({{"type", type}, {"output_index", index}, {"item", x}});
  };
  if (step == wire_steps) {
    out += event({{"type", "response.output_text.delta"},
                  {"output_index", 0},
                  {"delta", "all read"}});
  } else {
    item("response.output_item.done", 0, responses_thought(step));
    auto begun = responses_call(step);
    begun["arguments"] = "";
    item("response.output_item.added", 1, begun);
    out += event({{"type", "response.function_call_arguments.done"},
                  {"output_index", 1},
                  {"arguments", argument_text(step)}});
  }
  return respond_sse(out + event({{"type", "response.completed"},
                                  {"response", {{"status", "completed"}}}}));
}

std::string responses_judge(const json& body) {
  if (body.at("store") != false) return "store must be false";
  const auto& input = body.at("input");
  for (std::size_t i = 1; i < input.size(); i += 3) {
    const auto k = static_cast<int>(i / 3);
    if (i + 2 >= input.size()) return "a call without its output";
    if (auto why = differs("reasoning", input[i], responses_thought(k));
        !why.empty())
      return why;
    if (auto why = differs("a call", input[i + 1], responses_call(k));
        !why.empty())
      return why;
    if (input[i + 2].at("call_id") != "call_" + number(k))
      return "an output without its call";
  }
  return {};
}

// -- ollama -------------------------------------------------------------------

json ollama_turn(int step) {
  const json function = {
      {"index", 0}, {"name", "read"}, {"arguments", arguments(step)}};
  return {{"role", "assistant"},
          {"content", ""},
          {"thinking", thought(step)},
          {"tool_calls",
           {{{"id", "call_" + number(step)}, {"function", function}}}}};
}

http_reply ollama_reply(int step) {
  json message = {{"role", "assistant"}, {"content", "all read"}};
  if (step < wire_steps) message = ollama_turn(step);
  auto reply = http_reply::text(
      json{{"message", message}, {"done", false}}.dump() + "\n" +
          json{{"done", true}, {"done_reason", "stop"}}.dump() + "\n",
      200, "application/x-ndjson");
  return reply;
}

std::string ollama_judge(const json& body) {
  const auto all = said(body);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto step = static_cast<int>(k);
    if (auto why = differs("a turn", all[k], ollama_turn(step)); !why.empty())
      return why;
  }
  for (const auto& m : body.at("messages"))
    if (m.at("role") == "tool" && m.at("tool_name") != "read")
      return "tool_name is wrong";
  return {};
}

// -- openai -------------------------------------------------------------------

int openai_step(const json& body) { return results(body, "tool"); }

/// What is odd about a server of this dialect.
struct flavour {
  std::function<void(int step, json& delta)> send;
  std::function<void(int step, json& message)> want;
};

json openai_call(int step, bool sent) {
  json out = {
      {"id", "call_" + number(step)},
      {"type", "function"},
      {"function", {{"name", "read"}, {"arguments", argument_text(step)}}}};
  if (sent) out["index"] = 0;
  return out;
}

http_reply openai_reply(int step, const flavour& x) {
  json delta = {{"content", "all read"}};
  if (step < wire_steps) {
    delta = {{"tool_calls", json::array({openai_call(step, true)})}};
    if (x.send) x.send(step, delta);
  }
  const json chunk = {
      {"choices",
       {{{"index", 0},
         {"delta", delta},
         {"finish_reason", step < wire_steps ? "tool_calls" : "stop"}}}}};
  return respond_sse("data: " + chunk.dump() + "\n\n" + done_mark);
}

std::string openai_judge(const json& body, const flavour& x) {
  int step = 0;
  for (const auto& got : said(body)) {
    json want = {{"role", "assistant"},
                 {"content", nullptr},
                 {"tool_calls", json::array({openai_call(step, false)})}};
    if (x.want) x.want(step, want);
    if (auto why = differs("a turn", got, want); !why.empty()) return why;
    ++step;
  }
  return {};
}

wire_server openai(const std::string& model, const flavour& x) {
  return {model, openai_step, [x](int step) { return openai_reply(step, x); },
          [x](const json& body) { return openai_judge(body, x); },
          static_cast<bool>(x.want)};
}

flavour deepseek() {
  const auto both = [](int step, json& x) {
    x["reasoning_content"] = thought(step);
  };
  return {both, both};
}

flavour gemini() {
  const auto both = [](int step, json& x) {
    x["tool_calls"][0]["extra_content"] = {
        {"google", {{"thought_signature", secret(step)}}}};
  };
  return {both, both};
}

flavour openrouter() {
  const auto both = [](int step, json& x) {
    x["reasoning_details"] = {{{"type", "reasoning.encrypted"},
                               {"index", 0},
                               {"data", secret(step)}}};
  };
  return {both, both};
}

flavour mistral() {
  const auto both = [](int step, json& x) {
    const json part = {
        {"type", "thinking"},
        {"thinking", {{{"type", "text"}, {"text", thought(step)}}}},
        {"closed", true},
        {"signature", secret(step)}};
    x["content"] = {part, part};
    x["tool_calls"][0]["id"] = "abcDEF00" + number(step);
  };
  return {both, both};
}

flavour strict() {
  const auto odd = [](int step, json& x) {
    x["reasoning"] = x["channel"] = thought(step);
    x["tool_calls"][0]["unknown"] = secret(step);
  };
  return {odd, {}};
}

wire_server at(wire_server x, decltype(x.door) door, std::string place,
               std::string settings = {}) {
  x.door = std::move(door);
  x.place = std::move(place);
  x.settings = std::move(settings);
  return x;
}

wire_server grok() {
  auto x = openai("xai/grok-x", {});
  x.judge = [](const json& body) {
    auto why = fault_of_grok(body);
    return why.empty() ? openai_judge(body, {}) : why;
  };
  return x;
}

}  // namespace

bool wire_server::last_is_user(const json& body) const {
  const auto& all = body.contains("input") ? body["input"] : body["messages"];
  const auto& last = all.back();
  if (last.value("role", "") != "user") return false;
  return !last["content"].is_array() ||
         last["content"].back().value("type", "") != "tool_result";
}

void check_prefixes(const std::vector<http_request>& requests) {
  const std::string mark = R"(,"cache_control":{"type":"ephemeral"})";
  std::string before;
  for (const auto& x : requests) {
    auto body = x.body;
    for (auto at = body.find(mark); at != body.npos; at = body.find(mark))
      body.erase(at, mark.size());
    CHECK(body.starts_with(before));
    REQUIRE(body.ends_with("]}"));
    before = body.substr(0, body.size() - 2);
  }
}

const std::vector<wire_server>& wires() {
  static const std::vector<wire_server> all{
      {"anthropic/claude-x", anthropic_step, anthropic_reply, anthropic_judge},
      {"ollama/qwen-x", [](const json& x) { return results(x, "tool"); },
       ollama_reply, ollama_judge},
      openai("deepseek/ds-x", deepseek()),
      openai("kimi/k-x", deepseek()),
      openai("gemini/gemini-x", gemini()),
      openai("openrouter/or-x", openrouter()),
      openai("mistral/mi-x", mistral()),
      at(openai("vertex/google/gemini-v", gemini()), vertex_door,
         "/projects/p/locations/l/endpoints/openapi",
         "api_key_command = [\"{folder}/print-token\"]\n"),
      at(openai("azure/gpt-x", {}), azure_door, "/openai/deployments/{model}"),
      grok(),
      openai("groq/gr-x", strict()),
      openai("cerebras/ce-x", strict()),
      openai("fireworks/fi-x", strict()),
      {"responses-x", responses_step, responses_reply, responses_judge},
  };
  return all;
}

}  // namespace riffle::testing
