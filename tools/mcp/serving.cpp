// SPDX-License-Identifier: MIT
#include "tools/mcp/serving.hpp"

#include <algorithm>
#include <utility>

#include "messages/json_strict.hpp"
#include "runtime/base/text.hpp"
#include "runtime/base/trace.hpp"
#include "tools/arguments.hpp"
#include "tools/mcp/run_task.hpp"

namespace riffle::mcp {

namespace {

constexpr auto version_key = "io.modelcontextprotocol/protocolVersion";
constexpr auto info_key = "io.modelcontextprotocol/serverInfo";
constexpr auto able_key = "io.modelcontextprotocol/clientCapabilities";

const json& object_at(const json& x, const char* key) {
  static const json none = json::object();
  const auto found = x.find(key);
  return found != x.end() && found->is_object() ? *found : none;
}

std::string text_at(const json& x, const char* key) {
  const auto found = x.find(key);
  if (found == x.end() || !found->is_string()) return {};
  return found->get<std::string>();
}

send_text reply(const json& id, json result) {
  return {
      to_text({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}})};
}

send_text refusal(const json& id, const rpc_error& x) {
  json error = {{"code", x.number}, {"message", x.message}};
  if (!x.data.is_null()) error["data"] = x.data;
  return {
      to_text({{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}})};
}

json complete(json result, bool modern) {
  if (modern) result["resultType"] = "complete";
  return result;
}

/// How long what is read may be kept: tools stay as they are while this
/// program does, everything else may be another one at once.
json with_life(json result, const std::string& method) {
  constexpr std::int64_t hour_ms = 3'600'000;
  const bool fixed = method == "tools/list" || method == "server/discover";
  if (!fixed && !method.starts_with("resources/")) return result;
  result["ttlMs"] = fixed ? hour_ms : 0;
  result["cacheScope"] = fixed ? "public" : "private";
  return result;
}

std::variant<json, rpc_error> no_method(const std::string& method) {
  return rpc_error{code::method_not_found,
                   "there is no method " + with_dots(method, 100),
                   {}};
}

/// Versions say their date.
constexpr std::string_view first_with_links = "2025-06-18";

bool is_before(std::string_view spoken, std::string_view version) {
  return !spoken.empty() && spoken < version;
}

/// What the newer era has no more.
bool is_gone(const std::string& method) {
  return method == "ping" || method == "initialize";
}

}  // namespace

std::string twice_in(const std::string& key) {
  return "the key " + to_text(with_dots(key, 60)) +
         " stands twice in one object: nobody can say which is meant";
}

void serving_core::on_text(std::string_view text, serving_effects& out) {
  const auto x = parse_strict(text);
  if (!x)
    return void(out.emplace_back(
        refusal(nullptr, {code::parse_error, "this is no JSON", {}})));
  if (const auto key = tools::repeated_key(text, *x))
    return void(out.emplace_back(
        refusal(nullptr, {code::invalid_request, twice_in(*key), {}})));
  // Batches came with JSON-RPC, and went with the version that has links.
  if (x->is_array() && !x->empty() && !options_.has_begun &&
      is_before(spoken_, first_with_links))
    return on_batch(*x, out);
  on_message(*x, out);
}

void serving_core::on_batch(const json& all, serving_effects& out) {
  const auto number = ++last_batch_;
  auto& mine = batches_[number];
  mine.open = 1;  // this reading of it: a call may be cancelled in it
  for (const auto& one : all) {
    serving_effects said;
    on_message(one, said);
    for (auto& effect : said) {
      if (const auto* text = std::get_if<send_text>(&effect)) {
        mine.answers.push_back(json::parse(text->text));
        continue;
      }
      if (const auto* begun = std::get_if<begin_call>(&effect)) {
        calls_.at(begun->key).batch = number;
        ++mine.open;
      }
      out.push_back(std::move(effect));
    }
  }
  end_in_batch(number, out);
}

/// The last end answers.
void serving_core::end_in_batch(std::uint64_t number, serving_effects& out) {
  const auto found = batches_.find(number);
  if (found == batches_.end() || --found->second.open > 0) return;
  if (!found->second.answers.empty())
    out.emplace_back(send_text{to_text(found->second.answers)});
  batches_.erase(found);
}

void serving_core::on_message(const json& message, serving_effects& out) {
  const auto* x = &message;
  if (!x->is_object() || !x->contains("method")) {
    const bool answers =
        x->is_object() && (x->contains("result") || x->contains("error"));
    if (!answers)  // nobody was asked anything
      out.emplace_back(
          refusal(nullptr, {code::invalid_request, "this is no request", {}}));
    return;
  }
  if (!x->at("method").is_string())
    return void(out.emplace_back(refusal(
        nullptr, {code::invalid_request, "the method is no text", {}})));
  if (!x->contains("id")) return on_notification(*x, out);
  const auto& id = x->at("id");
  if (!id.is_string() && !id.is_number_integer())
    return void(out.emplace_back(refusal(
        nullptr,
        {code::invalid_request, "an id is a text or a whole number", {}})));
  if (const auto params = x->find("params");
      params != x->end() && !params->is_object() && !params->is_null())
    return void(out.emplace_back(
        refusal(id, {code::invalid_params, "params are an object", {}})));
  on_request(*x, out);
}

void serving_core::on_request(const json& x, serving_effects& out) {
  const auto method = text_at(x, "method");
  const auto& params = object_at(x, "params");
  const auto& id = x.at("id");
  const auto& meta = object_at(params, "_meta");
  const auto version = text_at(meta, version_key);
  const bool modern = !version.empty();
  if (modern && version != modern_version)
    return void(out.emplace_back(refusal(
        id, {code::unsupported_version,
             "this server does not speak " + with_dots(version, 40),
             {{"supported", {modern_version}}, {"requested", version}}})));
  const auto able = meta.find(able_key);
  if (modern && (able == meta.end() || !able->is_object()))
    return void(out.emplace_back(refusal(
        id,
        {code::invalid_params, std::string{"_meta has no "} + able_key, {}})));
  const bool first = is_gone(method);
  if (!modern && !began_ && !first)
    return void(out.emplace_back(refusal(
        id, {code::invalid_params,
             "begin with initialize, or say the version of the protocol in "
             "_meta",
             {}})));
  if (method == "tools/call") return begin(x, modern, out);
  auto said = modern && first ? no_method(method) : answer_to(method, params);
  if (auto* error = std::get_if<rpc_error>(&said))
    out.emplace_back(refusal(id, *error));
  else if (modern)
    out.emplace_back(
        reply(id, complete(with_life(std::get<json>(said), method), true)));
  else
    out.emplace_back(reply(id, std::get<json>(said)));
}

std::variant<json, rpc_error> serving_core::answer_to(const std::string& method,
                                                      const json& params) {
  if (method == "ping") return json::object();
  if (method == "initialize") return initialize(params);
  if (method == "server/discover") return discovery();
  if (method == "tools/list") return json{{"tools", options_.tools}};
  if (method == "resources/list" && options_.list)
    return json{{"resources", options_.list()}};
  if (method == "resources/templates/list" && options_.list)
    return json{{"resourceTemplates", options_.templates}};
  if (method == "resources/read" && options_.read) return read(params);
  return no_method(method);
}

std::variant<json, rpc_error> serving_core::read(const json& params) const {
  const auto uri = text_at(params, "uri");
  const auto text = options_.read(uri);
  if (!text)
    return rpc_error{code::invalid_params,
                     "there is no resource " + with_dots(uri, 200),
                     {{"uri", with_dots(uri, 200)}}};
  return json{{"contents", json::array({{{"uri", uri}, {"text", *text}}})}};
}

json serving_core::capabilities() const {
  json out = {{"tools", json::object()}};
  if (options_.list) out["resources"] = json::object();
  return out;
}

json serving_core::initialize(const json& params) {
  began_ = true;
  auto version = text_at(params, "protocolVersion");
  if (!speaks(version) || version == modern_version) version = legacy_version;
  spoken_ = version;
  return {
      {"protocolVersion", version},
      {"capabilities", capabilities()},
      {"serverInfo", {{"name", options_.name}, {"version", options_.version}}}};
}

json serving_core::discovery() const {
  return {
      {"supportedVersions", {modern_version}},
      {"capabilities", capabilities()},
      {"_meta",
       {{info_key, {{"name", options_.name}, {"version", options_.version}}}}}};
}

void serving_core::begin(const json& x, bool modern, serving_effects& out) {
  const auto& params = object_at(x, "params");
  const auto name = text_at(params, "name");
  const bool there = std::ranges::any_of(
      options_.tools, [&](const json& y) { return y.at("name") == name; });
  if (!there)
    return void(out.emplace_back(
        refusal(x.at("id"), {code::invalid_params,
                             "there is no tool " + with_dots(name, 100),
                             {}})));
  const auto given = params.find("arguments");
  if (given != params.end() && !given->is_object() && !given->is_null())
    return void(out.emplace_back(refusal(
        x.at("id"),
        {code::invalid_params, "the arguments of a call are an object", {}})));
  if (calls_.size() >= options_.most_calls)
    return void(out.emplace_back(
        refusal(x.at("id"), {code::internal, "too many calls at once", {}})));
  const auto token = object_at(params, "_meta").value("progressToken", json());
  if (!token.is_null() && !token.is_string() && !token.is_number_integer())
    return void(out.emplace_back(
        refusal(x.at("id"), {code::invalid_params,
                             "a progressToken is a text or a whole number",
                             {}})));
  const auto key = ++last_;
  calls_[key] = {x.at("id"), token, modern, -1, 0};
  auto trace = text_at(object_at(params, "_meta"), "traceparent");
  out.emplace_back(begin_call{key, name, object_at(params, "arguments"),
                              is_traceparent(trace) ? trace : std::string{}});
}

void serving_core::on_notification(const json& x, serving_effects& out) {
  if (text_at(x, "method") != "notifications/cancelled") return;
  const auto& params = object_at(x, "params");
  const auto id = params.find("requestId");
  if (id == params.end()) return;
  for (auto i = calls_.begin(); i != calls_.end(); ++i) {
    if (i->second.id != *id) continue;
    out.emplace_back(stop_call{i->first});
    const auto batch = i->second.batch;
    calls_.erase(i);
    return end_in_batch(batch, out);
  }
}

void serving_core::on_progress(std::uint64_t key, double progress,
                               const std::string& message,
                               serving_effects& out) {
  const auto found = calls_.find(key);
  if (found == calls_.end() || found->second.token.is_null()) return;
  if (progress <= found->second.progress) return;
  found->second.progress = progress;
  out.emplace_back(send_text{to_text({{"jsonrpc", "2.0"},
                                      {"method", "notifications/progress"},
                                      {"params",
                                       {{"progressToken", found->second.token},
                                        {"progress", progress},
                                        {"message", message}}}})});
}

void serving_core::on_done(std::uint64_t key, json result,
                           serving_effects& out) {
  const auto found = calls_.find(key);
  if (found == calls_.end()) return;
  const auto x = std::move(found->second);
  calls_.erase(found);
  if (!x.modern && is_before(spoken_, first_with_links))
    result = without_links(std::move(result));
  auto said = reply(x.id, complete(std::move(result), x.modern));
  const auto batch = batches_.find(x.batch);
  if (batch == batches_.end()) return void(out.push_back(std::move(said)));
  batch->second.answers.push_back(json::parse(said.text));
  end_in_batch(x.batch, out);
}

void serving_core::on_closed(serving_effects& out) {
  for (const auto& [key, ignored] : calls_) out.emplace_back(stop_call{key});
  calls_.clear();
  batches_.clear();
}

}  // namespace riffle::mcp
