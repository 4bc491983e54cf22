// SPDX-License-Identifier: MIT
#include "runtime/service/model_asking.hpp"

#include <chrono>
#include <utility>

#include "actors/core/message_assembler.hpp"
#include "actors/core/tool_call_assembler.hpp"
#include "actors/run/conversation.hpp"
#include "messages/json_strict.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/config/providers.hpp"
#include "runtime/service/model_exchange.hpp"
#include "runtime/service/model_request.hpp"
#include "runtime/service/model_window.hpp"

namespace riffle::service {

namespace {

using std::chrono::steady_clock;

constexpr const char* models_op = "models";

/// Where a server says which models it has.
std::string list_url(const model_link& link, const config::model_config& of) {
  if (of.dialect == "ollama") return link.url("/api/tags");
  auto plain = link;
  if (const auto at = plain.base.find("/deployments/"); at != plain.base.npos)
    plain.base.resize(at);
  if (of.dialect == "anthropic")
    plain.query += plain.query.empty() ? "?limit=1000" : "&limit=1000";
  return plain.url("/models");
}

std::string name_in(const nlohmann::json& x) {
  if (x.is_string()) return x.get<std::string>();
  for (const auto* key : {"id", "model", "name"})
    if (x.is_object() && x.contains(key) && x[key].is_string())
      return x[key].get<std::string>();
  return {};
}

constexpr const char* tool_name = "note_city";

model::tool_description city_tool() {
  return {tool_name, "Notes a city.",
          R"({"type":"object","properties":{"city":{"type":"string"}},)"
          R"("required":["city"]})"};
}

std::string question() {
  return std::string{"Call the tool "} + tool_name +
         " twice in this one answer, once with Oslo and once with Rome. Do "
         "nothing else.";
}

std::string request_body(std::shared_ptr<const model::dialect> dialect,
                         const config::model_config& model) {
  auto options = make_request(model, model.parameters, {city_tool()});
  conversation chat{{std::move(dialect), std::move(options), 0}};
  chat.say_user(question());
  return chat.request({});
}

bool is_as_asked(const core::assembled_call& x) {
  const auto arguments = nlohmann::json::parse(x.arguments, nullptr, false);
  return x.name == tool_name && arguments.is_object() &&
         arguments.contains("city") && arguments["city"].is_string();
}

void read_answer(gathered_answer& answer, const model::dialect& dialect,
                 const model::model_advice& advice, model_report& out) {
  auto end = answer.end();
  if (end.failure)
    end.failure =
        model::advised(std::move(*end.failure), end.http_status, advice);
  out.streamed = end.content_type == "text/event-stream" ||
                 end.content_type == "application/x-ndjson";
  turn_delta delta;
  const auto decoder = dialect.make_decoder();
  for (const auto& bytes : answer.reads) decoder->feed(bytes, delta);
  if (!end.failure) decoder->end(delta);
  core::message_assembler message;
  message.add(delta);
  core::tool_call_assembler calls;
  for (const auto& x : delta.fragments) static_cast<void>(calls.on_fragment(x));
  for (const auto& x : calls.calls()) {
    if (is_as_asked(x))
      ++out.calls;
    else
      out.odd_call = x.name + " " + x.arguments;
  }
  out.text = message.text();
  out.usage = delta.usage;
  out.reasoned = !message.reasoning().empty() ||
                 (out.usage && out.usage->reasoning_tokens.value_or(0) > 0);
  out.failure = end.failure ? end.failure : delta.failure;
  if (out.failure) out.failure = redact(std::move(*out.failure));
}

}  // namespace

expected<config::model_config> find_server(const config::config& settings,
                                           const std::string& name) {
  if (name.empty()) {
    const auto agent = settings.agents.find("default");
    if (agent != settings.agents.end())
      return find_server(settings, agent->second.model);
  }
  if (auto found = config::find_model(settings, name)) return *found;
  if (const auto* known = config::find_provider(name))
    return config::with_name(*known, "");
  return unexpected{error{errc::not_found,
                          models_op,
                          config::unknown_model(settings, name),
                          false,
                          {}}};
}

expected<std::vector<std::string>> read_model_list(const std::string& body) {
  const auto parsed = parse_strict(body);
  const auto* all = parsed ? &*parsed : nullptr;
  for (const auto* key : {"data", "models"})
    if (all && all->is_object() && all->contains(key) && (*all)[key].is_array())
      all = &(*all)[key];
  if (!all || !all->is_array())
    return unexpected{error{errc::model_error, models_op,
                            "the server's answer is no list of models", false,
                            body.substr(0, 200)}};
  std::vector<std::string> out;
  constexpr std::string_view folder = "models/";  // Gemini's names have it
  for (const auto& x : *all) {
    auto name = name_in(x);
    if (name.starts_with(folder)) name.erase(0, folder.size());
    if (!name.empty()) out.push_back(std::move(name));
  }
  return out;
}

expected<std::vector<std::string>> list_models(
    model_links& links, const std::string& name,
    const config::model_config& model, std::stop_token stop) {
  if (model.dialect == "scripted")
    return unexpected{error{errc::invalid_request,
                            models_op,
                            "a script has no list of models",
                            false,
                            {}}};
  auto link = links.open(name, model, stop);
  if (!link) return unexpected{std::move(link.error())};
  const auto dialect = make_dialect(model);
  if (!dialect) return unexpected{dialect.error()};
  auto request = begin_request(*link, **dialect, model);
  request.get = true;
  request.url = list_url(*link, model);
  const auto answer = exchange(*link->transport, std::move(request), stop);
  if (auto end = answer->end(); end.failure)
    return unexpected{redact(model::advised(std::move(*end.failure),
                                            end.http_status, link->advice))};
  return read_model_list(answer->body());
}

expected<model_report> check_model(model_links& links, const std::string& name,
                                   const config::model_config& model,
                                   std::stop_token stop) {
  auto link = links.open(name, model, stop);
  if (!link) return unexpected{std::move(link.error())};
  const auto made = make_dialect(model);
  if (!made) return unexpected{made.error()};
  const auto& dialect = *made;
  auto asked = model;
  model_windows{}.complete(*link, asked, stop);
  auto request = begin_request(*link, *dialect, asked);
  request.url = link->url(dialect->path());
  request.body = request_body(dialect, asked);
  const auto begin = steady_clock::now();
  const auto answer = exchange(*link->transport, std::move(request), stop);
  model_report out;
  out.milliseconds = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(
          steady_clock::now() - begin)
          .count());
  read_answer(*answer, *dialect, link->advice, out);
  return out;
}

nlohmann::ordered_json to_json(const std::string& name, const model_report& x) {
  nlohmann::ordered_json out{{"model", name},
                             {"works", x.works()},
                             {"streaming", x.streamed},
                             {"tools", x.calls > 0},
                             {"parallel", x.calls > 1},
                             {"reasoning", x.reasoned},
                             {"usage", x.usage.has_value()},
                             {"duration_ms", x.milliseconds}};
  if (x.usage) {
    out["input_tokens"] = x.usage->input_tokens;
    out["output_tokens"] = x.usage->output_tokens;
  }
  if (x.failure)
    out["error"] = {{"code", to_string(x.failure->code)},
                    {"message", x.failure->message}};
  return out;
}

}  // namespace riffle::service
