// SPDX-License-Identifier: MIT
#include "runtime/model/scripted_answer.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "messages/event_line.hpp"
#include "messages/utf8.hpp"

namespace riffle::model {

namespace {

using nlohmann::json;

std::string dump(const json& x) {
  return x.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  append_json_escaped(out, text);
  return out += '"';
}

transport_end ended(int status, std::optional<error> failure) {
  transport_end out;
  out.http_status = status;
  out.failure = std::move(failure);
  out.content_type = "text/event-stream";
  return out;
}

transport_end status_end(int status, const std::string& message,
                         std::optional<duration> retry_after) {
  error failure{errc::model_error, "model", message, false, {}};
  if (status == 0) failure.code = errc::model_unreachable;
  if (status == 429) failure.code = errc::model_rate_limited;
  failure.retryable = status == 0 || status == 408 || status == 409 ||
                      status == 429 || status >= 500;
  auto out = ended(status, std::move(failure));
  out.content_type = status == 0 ? "" : "application/json";
  out.retry_after = retry_after;
  return out;
}

// Texts in parts of `chunk` characters; 0: in one.
std::vector<std::string> in_chunks(std::string_view text, std::size_t chunk) {
  std::vector<std::string> out;
  while (!text.empty()) {
    out.emplace_back(chunk == 0 ? text : first_characters(text, chunk));
    text.remove_prefix(out.back().size());
  }
  return out;
}

json error_object(const script_error& x) {
  return {{"message", x.message},
          {"type", x.type},
          {"code", x.code.empty() ? json(nullptr) : json(x.code)}};
}

std::string error_event(const script_error& x) {
  auto inner = error_object(x);
  json root = {{"error", inner}};
  if (x.shape == error_shape::vllm) {
    root = inner;
    root["object"] = "error";
  } else if (x.shape == error_shape::openrouter) {
    root["choices"] = {
        {{"index", 0}, {"delta", json::object()}, {"finish_reason", "error"}}};
  }
  const std::string head =
      x.shape == error_shape::event ? "event: error\n" : "";
  return head + "data: " + dump(root) + "\n\n";
}

/// Plays one step. A stream is made of events; a document collects what they
/// say until its end.
class player {
 public:
  player(const script_step& step, const scripted_request& request,
         const fault_counter& happens)
      : step_{step},
        request_{request},
        happens_{happens},
        tail_{R"(,"index":0}],)" +
              dump(envelope("chat.completion.chunk")).substr(1) + "\n\n"} {}

  std::vector<scripted_action> play() {
    for (const auto& event : step_.events) {
      const auto place = static_cast<std::size_t>(&event - step_.events.data());
      if (!std::visit([&](const auto& x) { return on(x, place); }, event))
        return std::move(out_);
    }
    finish();
    return std::move(out_);
  }

 private:
  // Each of these is false if the answer ended by it.
  bool on(const script_say& x, std::size_t) {
    const auto text = expand_text(x.text, request_.scope);
    if (!text) return refuse(text.error());
    constexpr const char* keys[] = {"content", "reasoning_content", "refusal"};
    const auto* key = keys[static_cast<std::size_t>(x.kind)];
    if (!request_.streaming) {
      auto& whole = message_[key];
      whole = (whole.is_string() ? whole.get<std::string>() : "") + *text;
    }
    bool first = true;
    for (const auto& part : in_chunks(*text, x.chunk)) {
      if (!std::exchange(first, false)) pause(x.delay);
      delta({key, in_quotes(part)});
    }
    return true;
  }

  bool on(const script_call& x, std::size_t) {
    const auto value = expand_value(x.arguments, request_.scope);
    if (!value) return refuse(value.error());
    const auto text =
        value->is_string() ? value->get<std::string>() : dump(*value);
    const auto index = calls_++;
    const auto id = !x.id.empty() ? x.id
                                  : "call_" + std::to_string(request_.step) +
                                        "_" + std::to_string(index);
    if (!request_.streaming)
      message_["tool_calls"].push_back(
          {{"id", id},
           {"type", "function"},
           {"function", {{"name", x.tool}, {"arguments", text}}}});
    const auto place = R"("index":)" + std::to_string(index);
    delta({"tool_calls", R"([{"function":{"arguments":"","name":)" +
                             in_quotes(x.tool) + R"(},"id":)" + in_quotes(id) +
                             ',' + place + R"(,"type":"function"}])"});
    for (const auto& part : in_chunks(text, x.chunk)) {
      pause(x.delay);
      delta({"tool_calls", R"([{"function":{"arguments":)" + in_quotes(part) +
                               "}," + place + "}]"});
    }
    return true;
  }

  bool on(const script_pause& x, std::size_t) {
    pause(x.length);
    return true;
  }

  bool on(const script_error& x, std::size_t place) {
    if (!happens_(place, x.times)) return true;
    if (x.status) {
      out_.emplace_back(status_end(*x.status, x.message, x.retry_after));
      return false;
    }
    if (request_.streaming)
      bytes(error_event(x));
    else
      bytes(dump({{"error", error_object(x)}}));
    close();
    return false;
  }

  bool on(const script_cut& x, std::size_t place) {
    if (!happens_(place, x.times)) return true;
    if (x.half_event) {
      const auto event = chunk(R"("content":"lost")", "null");
      bytes(event.substr(0, event.size() / 2));
    }
    if (x.clean) {
      close();
    } else {
      out_.emplace_back(ended(200, error{errc::stream_interrupted,
                                         "model",
                                         "the connection was lost (scripted)",
                                         true,
                                         {}}));
    }
    return false;
  }

  void finish() {
    const std::string word =
        step_.finish.value_or(calls_ > 0 ? "tool_calls" : "stop");
    if (!request_.streaming) return document(word);
    if (!word.empty()) bytes(chunk("", in_quotes(word)));
    if (step_.usage && request_.wants_usage) {
      auto root = envelope("chat.completion.chunk");
      root["choices"] = json::array();
      root["usage"] = usage();
      bytes("data: " + dump(root) + "\n\n");
    }
    if (step_.done) bytes("data: [DONE]\n\n");
    close();
  }

  void document(const std::string& word) {
    auto root = envelope("chat.completion");
    message_["role"] = "assistant";
    root["choices"] = {
        {{"index", 0},
         {"message", message_},
         {"finish_reason", word.empty() ? json(nullptr) : json(word)}}};
    if (step_.usage) root["usage"] = usage();
    bytes(dump(root));
    close();
  }

  [[nodiscard]] json usage() const {
    const auto& x = *step_.usage;
    json out = {{"prompt_tokens", x.input_tokens},
                {"completion_tokens", x.output_tokens},
                {"total_tokens", add_up(x.input_tokens, x.output_tokens)}};
    if (x.cached_tokens)
      out["prompt_tokens_details"] = {{"cached_tokens", *x.cached_tokens}};
    if (x.reasoning_tokens)
      out["completion_tokens_details"] = {
          {"reasoning_tokens", *x.reasoning_tokens}};
    return out;
  }

  [[nodiscard]] json envelope(const char* object) const {
    return {{"id", "chatcmpl-script-" + std::to_string(request_.step)},
            {"object", object},
            {"created", 0},
            {"model", request_.model}};
  }

  /// Written as text, keys in their order: an answer may have thousands of
  /// them.
  [[nodiscard]] std::string chunk(std::string_view delta,
                                  std::string_view finish) const {
    std::string out;
    out.reserve(head_.size() + delta.size() + finish.size() + tail_.size());
    return out.append(head_)
        .append(delta)
        .append(R"(},"finish_reason":)")
        .append(finish)
        .append(tail_);
  }

  struct member {
    std::string_view key;
    std::string value;  ///< JSON
  };

  void delta(const member& x) {
    constexpr std::string_view role = R"("role":"assistant")";
    if (!request_.streaming) return;
    auto text = '"' + std::string{x.key} + "\":" + x.value;
    if (!std::exchange(began_, true))
      text = x.key < "role" ? text + ',' + std::string{role}
                            : std::string{role} + ',' + text;
    bytes(chunk(text, "null"));
  }

  void bytes(std::string text) {
    if (!text.empty()) out_.emplace_back(std::move(text));
  }

  void pause(duration length) {
    if (length > duration::zero()) out_.emplace_back(length);
  }

  void close() {
    auto end = ended(200, std::nullopt);
    if (!request_.streaming) end.content_type = "application/json";
    out_.emplace_back(std::move(end));
  }

  bool refuse(const std::string& why) {
    out_.clear();
    out_.emplace_back(status_end(400, "script: " + why, std::nullopt));
    return false;
  }

  const script_step& step_;
  const scripted_request& request_;
  const fault_counter& happens_;
  /// Of an event, up to what its delta has, and behind its end.
  static constexpr std::string_view head_ = R"(data: {"choices":[{"delta":{)";
  const std::string tail_;
  std::vector<scripted_action> out_;
  json message_ = {{"content", nullptr}};
  std::size_t calls_ = 0;
  bool began_ = false;
};

const std::vector<script_step>& steps_for(const script& x,
                                          std::string_view task) {
  for (const auto& c : x.cases) {
    if (task.find(c.match) != std::string_view::npos) return c.steps;
  }
  return x.steps;
}

}  // namespace

std::vector<scripted_action> make_scripted_answer(
    const script& what, std::string_view body, const fault_counter& happens) {
  const auto request = read_scripted_request(body, what.whole_session);
  if (!request) return {status_end(400, request.error().message, std::nullopt)};
  const auto& steps = steps_for(what, request->scope.task);
  if (request->step >= steps.size()) {
    return {status_end(400,
                       "the script has " + std::to_string(steps.size()) +
                           " steps for this task, and step " +
                           std::to_string(request->step + 1) + " was asked for",
                       std::nullopt)};
  }
  return player{steps[request->step], *request, happens}.play();
}

}  // namespace riffle::model
