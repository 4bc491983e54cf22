// SPDX-License-Identifier: MIT
#include "runtime/model/scripted_answer.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "messages/utf8.hpp"

namespace riffle::model {

namespace {

using nlohmann::json;

std::string dump(const json& x) {
  return x.dump(-1, ' ', false, json::error_handler_t::replace);
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
      : step_{step}, request_{request}, happens_{happens} {}

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
    auto& whole = message_[key];
    whole = (whole.is_string() ? whole.get<std::string>() : "") + *text;
    bool first = true;
    for (const auto& part : in_chunks(*text, x.chunk)) {
      if (!std::exchange(first, false)) pause(x.delay);
      delta({{key, part}});
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
    const auto fragment = [&](json function, bool first) {
      json call = {{"index", index}, {"function", std::move(function)}};
      if (first) call.update({{"id", id}, {"type", "function"}});
      delta({{"tool_calls", json::array({call})}});
    };
    message_["tool_calls"].push_back(
        {{"id", id},
         {"type", "function"},
         {"function", {{"name", x.tool}, {"arguments", text}}}});
    fragment({{"name", x.tool}, {"arguments", ""}}, true);
    for (const auto& part : in_chunks(text, x.chunk)) {
      pause(x.delay);
      fragment({{"arguments", part}}, false);
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
      const auto event = chunk({{"content", "lost"}}, nullptr);
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
    if (!word.empty()) bytes(chunk(json::object(), word));
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

  [[nodiscard]] std::string chunk(json delta, json finish) const {
    auto root = envelope("chat.completion.chunk");
    root["choices"] = {{{"index", 0},
                        {"delta", std::move(delta)},
                        {"finish_reason", std::move(finish)}}};
    return "data: " + dump(root) + "\n\n";
  }

  void delta(json x) {
    if (!request_.streaming) return;
    if (!std::exchange(began_, true)) x["role"] = "assistant";
    bytes(chunk(std::move(x), nullptr));
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
