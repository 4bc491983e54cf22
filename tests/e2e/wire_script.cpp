// SPDX-License-Identifier: MIT
#include "tests/e2e/wire_script.hpp"

#include <cstddef>

#include "tests/e2e/program.hpp"

namespace riffle::testing {

namespace {

using nlohmann::json;
using ending = scripted_turn::ending;

std::string id_of(int number, std::size_t call) {
  return "call_" + std::to_string(number) + "_" + std::to_string(call);
}

std::string data(const json& x) { return "data: " + x.dump() + "\n\n"; }

std::string event(const json& x) {
  return "event: " + x.at("type").get<std::string>() + "\n" + data(x);
}

/// The arguments in two parts.
std::pair<std::string, std::string> halves(const json& arguments) {
  const auto text = arguments.dump();
  return {text.substr(0, text.size() / 2), text.substr(text.size() / 2)};
}

/// The last call of a turn that is cut has its first half alone.
bool is_half(const scripted_turn& x, std::size_t call) {
  return x.end == ending::cut && call + 1 == x.calls.size();
}

std::string openai(int number, const scripted_turn& x) {
  const auto delta = [](const json& what, const json& finish = nullptr) {
    return data(
        {{"choices",
          {{{"index", 0}, {"delta", what}, {"finish_reason", finish}}}}});
  };
  std::string out;
  if (!x.thought.empty()) out += delta({{"reasoning_content", x.thought}});
  if (!x.text.empty()) out += delta({{"content", x.text}});
  for (std::size_t i = 0; i < x.calls.size(); ++i) {
    const auto& [tool, arguments] = x.calls[i];
    const auto [first, second] = halves(arguments);
    const auto part = [&](json call) {
      call["index"] = i;
      out += delta({{"tool_calls", json::array({std::move(call)})}});
    };
    part({{"id", id_of(number, i)},
          {"type", "function"},
          {"function", {{"name", tool}, {"arguments", first}}}});
    if (!is_half(x, i)) part({{"function", {{"arguments", second}}}});
  }
  if (x.end == ending::error)
    return out + data({{"error", {{"message", "overloaded"}, {"code", 503}}}});
  return out + delta(json::object(), x.calls.empty() ? "stop" : "tool_calls") +
         done_mark;
}

std::string anthropic(int number, const scripted_turn& x) {
  int index = 0;
  auto out = event({{"type", "message_start"},
                    {"message", {{"id", "msg_" + std::to_string(number)}}}});
  const auto start = [&](const json& block) {
    out += event({{"type", "content_block_start"},
                  {"index", index},
                  {"content_block", block}});
  };
  const auto delta = [&](const json& what) {
    out += event(
        {{"type", "content_block_delta"}, {"index", index}, {"delta", what}});
  };
  const auto stop = [&] {
    out += event({{"type", "content_block_stop"}, {"index", index++}});
  };
  if (!x.thought.empty()) {
    start({{"type", "thinking"}, {"thinking", ""}, {"signature", ""}});
    delta({{"type", "thinking_delta"}, {"thinking", x.thought}});
    delta({{"type", "signature_delta"}, {"signature", "s"}});
    stop();
  }
  if (!x.text.empty()) {
    start({{"type", "text"}, {"text", ""}});
    delta({{"type", "text_delta"}, {"text", x.text}});
    stop();
  }
  for (std::size_t i = 0; i < x.calls.size(); ++i) {
    const auto [first, second] = halves(x.calls[i].second);
    start({{"type", "tool_use"},
           {"id", id_of(number, i)},
           {"name", x.calls[i].first},
           {"input", json::object()}});
    delta({{"type", "input_json_delta"}, {"partial_json", first}});
    if (is_half(x, i)) continue;
    delta({{"type", "input_json_delta"}, {"partial_json", second}});
    stop();
  }
  if (x.end == ending::error)
    return out +
           event({{"type", "error"},
                  {"error",
                   {{"type", "overloaded_error"}, {"message", "overloaded"}}}});
  return out +
         event({{"type", "message_delta"},
                {"delta",
                 {{"stop_reason", x.calls.empty() ? "end_turn" : "tool_use"}}},
                {"usage", {{"output_tokens", 3}}}}) +
         event({{"type", "message_stop"}});
}

void add_call(std::string& out, int index, const json& item,
              const std::string& arguments, bool half) {
  const auto size = arguments.size() / 2;
  const auto part = [&](const char* type, const char* key, const json& value) {
    out += event({{"type", type}, {"output_index", index}, {key, value}});
  };
  auto begun = item;
  begun["arguments"] = "";
  part("response.output_item.added", "item", begun);
  part("response.function_call_arguments.delta", "delta",
       arguments.substr(0, size));
  if (half) return;
  part("response.function_call_arguments.delta", "delta",
       arguments.substr(size));
  part("response.function_call_arguments.done", "arguments", arguments);
  part("response.output_item.done", "item", item);
}

std::string responses(int number, const scripted_turn& x) {
  int index = 0;
  std::string out;
  if (!x.thought.empty()) {
    out += event({{"type", "response.reasoning_summary_text.delta"},
                  {"output_index", index},
                  {"delta", x.thought}});
    out += event({{"type", "response.output_item.done"},
                  {"output_index", index++},
                  {"item",
                   {{"type", "reasoning"},
                    {"id", "rs_" + std::to_string(number)},
                    {"summary", json::array()},
                    {"encrypted_content", "s"}}}});
  }
  if (!x.text.empty())
    out += event({{"type", "response.output_text.delta"},
                  {"output_index", index++},
                  {"delta", x.text}});
  for (std::size_t i = 0; i < x.calls.size(); ++i) {
    const auto arguments = x.calls[i].second.dump();
    add_call(out, index++,
             {{"type", "function_call"},
              {"call_id", id_of(number, i)},
              {"name", x.calls[i].first},
              {"arguments", arguments}},
             arguments, is_half(x, i));
  }
  if (x.end == ending::error)
    return out +
           event({{"type", "response.failed"},
                  {"response",
                   {{"status", "failed"},
                    {"error",
                     {{"code", "server_error"}, {"message", "overloaded"}}}}}});
  return out + event({{"type", "response.completed"},
                      {"response", {{"status", "completed"}}}});
}

/// Its calls come whole: of a turn that is cut the last one never comes.
std::string ollama(const scripted_turn& x) {
  std::string out;
  const auto line = [&](const json& message) {
    out += json{{"message", message}, {"done", false}}.dump() + "\n";
  };
  if (!x.thought.empty()) line({{"content", ""}, {"thinking", x.thought}});
  if (!x.text.empty()) line({{"content", x.text}});
  for (std::size_t i = 0; i < x.calls.size(); ++i) {
    const auto& [tool, arguments] = x.calls[i];
    if (!is_half(x, i))
      line({{"content", ""},
            {"tool_calls",
             {{{"function", {{"name", tool}, {"arguments", arguments}}}}}}});
  }
  if (x.end == ending::error)
    return out + json{{"error", "overloaded"}}.dump() + "\n";
  return out + R"({"done":true,"done_reason":"stop"})" + "\n";
}

std::string body_of(const std::string& dialect, int number,
                    const scripted_turn& x) {
  if (dialect == "anthropic") return anthropic(number, x);
  if (dialect == "responses") return responses(number, x);
  return dialect == "ollama" ? ollama(x) : openai(number, x);
}

}  // namespace

http_reply as_said(const std::string& dialect, int number,
                   const scripted_turn& x) {
  auto body = body_of(dialect, number, x);
  auto out = http_reply::sse();
  if (dialect == "ollama")
    out = http_reply{200, http_reply::framing::chunked}.header(
        "Content-Type", "application/x-ndjson");
  if (x.end != ending::cut) return std::move(out.send(std::move(body)));
  // Without its end: what says so is the last event.
  const auto last =
      body.rfind(dialect == "ollama"      ? "{\"done\":true"
                 : dialect == "openai"    ? "data: {\"choices\":[{\"delta\":{},"
                 : dialect == "anthropic" ? "event: message_delta"
                                          : "event: response.completed");
  body.resize(last);
  return std::move(out.send(std::move(body)).cut());
}

}  // namespace riffle::testing
