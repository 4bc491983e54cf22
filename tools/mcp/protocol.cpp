// SPDX-License-Identifier: MIT
#include "tools/mcp/protocol.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/base/digest.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"
#include "tools/mcp/list_parts.hpp"
#include "tools/schema.hpp"

namespace riffle::mcp {

namespace {

constexpr const char* mcp_op = "mcp";
/// What a server says of its use goes into each request to a model.
constexpr std::size_t longest_advice = 2000;
constexpr std::array<std::string_view, 4> legacy_versions = {
    "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

std::string text_at(const json& x, const char* key) {
  const auto found = x.find(key);
  if (found == x.end() || !found->is_string()) return {};
  return found->get<std::string>();
}

json object_at(const json& x, const char* key) {
  const auto found = x.find(key);
  return found != x.end() && found->is_object() ? *found : json::object();
}

unexpected failure(std::string message) {
  return unexpected{error{.code = errc::tool_unavailable,
                          .op = mcp_op,
                          .message = std::move(message)}};
}

bool has(const json& capabilities, const char* key) {
  return capabilities.contains(key) && capabilities.at(key).is_object();
}

void read_capabilities(introduction& out, const json& x) {
  out.has_tools = has(x, "tools");
  out.has_resources = has(x, "resources");
  out.has_prompts = has(x, "prompts");
  out.tells_changes =
      out.has_tools && x.at("tools").value("listChanged", json()) == true;
}

/// The newest version of a list that this client speaks without `initialize`.
bool offers_modern(const json& versions) {
  return versions.is_array() &&
         std::ranges::any_of(versions, [](const json& x) {
           return x.is_string() &&
                  x.get_ref<const std::string&>() == modern_version;
         });
}

expected<introduction> read_discovery(const json& x) {
  introduction out;
  out.speaks = era::modern;
  const auto versions = x.find("supportedVersions");
  if (versions != x.end() && !offers_modern(*versions))
    return failure("the server speaks none of the versions " +
                   std::string{modern_version} +
                   " and 2025-11-25 to 2024-11-05, but " + to_text(*versions));
  out.version = modern_version;
  out.instructions =
      with_dots(redact(text_at(x, "instructions")), longest_advice);
  const auto about =
      object_at(object_at(x, "_meta"), "io.modelcontextprotocol/serverInfo");
  out.name = redact(text_at(about, "name"));
  out.server_version = redact(text_at(about, "version"));
  read_capabilities(out, object_at(x, "capabilities"));
  return out;
}

/// Whether a form has what it must have, and only what fits.
bool is_complete(const json& content, const json& schema) {
  const auto required = schema.value("required", json::array());
  if (required.is_array() && !std::ranges::all_of(required, [&](const json& x) {
        return x.is_string() && content.contains(x.get<std::string>());
      }))
    return false;
  if (schema.empty()) return true;
  auto whole = schema;
  whole["type"] = "object";
  const auto form = tools::schema::compile(to_text(whole));
  return form && form->check(content).empty();
}

/// Only forms are declared; a page is for a person to open. A form without
/// fields has no defaults: to accept it would be a person's word.
bool asks_by_form(const json& params) {
  const auto mode = params.find("mode");
  if (mode != params.end() && *mode != "form") return false;
  return !object_at(object_at(params, "requestedSchema"), "properties").empty();
}

/// An item of a list without what nobody looks at.
json what_is_read(const json& x) {
  constexpr std::array members{
      "name",        "title",       "description",  "inputSchema", "uri",
      "annotations", "execution",   "outputSchema", "mimeType",    "size",
      "arguments",   "uriTemplate", unreadable};
  if (!x.is_object()) return x;
  auto out = json::object();
  for (const auto* member : members)
    if (const auto found = x.find(member); found != x.end())
      out[member] = *found;
  return out;
}

}  // namespace

std::string_view to_string(era x) noexcept {
  return x == era::modern ? "modern" : "legacy";
}

std::optional<era> parse_era(std::string_view text) noexcept {
  if (text == "modern") return era::modern;
  if (text == "legacy") return era::legacy;
  return {};
}

bool speaks(std::string_view version) noexcept {
  return version == modern_version ||
         std::ranges::find(legacy_versions, version) != legacy_versions.end();
}

bool has_version_header(std::string_view version) noexcept {
  return version >= "2025-06-18";  // dates: their order is that of texts
}

json capabilities_of(const identity& me) {
  auto out = json::object();
  if (!me.roots.empty()) out["roots"] = json::object();
  if (me.fills_forms) out["elicitation"] = json::object();
  return out;
}

json initialize_params(const identity& me) {
  return {{"protocolVersion", legacy_version},
          {"capabilities", capabilities_of(me)},
          {"clientInfo", {{"name", me.name}, {"version", me.version}}}};
}

json with_meta(json params, const identity& me, std::string_view version,
               std::string_view trace) {
  if (!params.is_object()) params = json::object();
  auto& meta = params["_meta"];
  if (!trace.empty()) meta["traceparent"] = trace;
  if (version != modern_version) {
    if (meta.is_null()) params.erase("_meta");
    return params;
  }
  meta["io.modelcontextprotocol/protocolVersion"] = version;
  meta["io.modelcontextprotocol/clientCapabilities"] = capabilities_of(me);
  meta["io.modelcontextprotocol/clientInfo"] = {{"name", me.name},
                                                {"version", me.version}};
  return params;
}

json defaults_of_form(const json& schema) {
  auto out = json::object();
  const auto fields = object_at(schema, "properties");
  for (const auto& [name, x] : fields.items())
    if (x.is_object() && x.contains("default")) out[name] = x.at("default");
  return out;
}

std::variant<json, rpc_error> respond(const identity& me,
                                      const std::string& method,
                                      const json& params) {
  if (method == "ping") return json::object();
  if (method == "roots/list" && !me.roots.empty()) {
    auto roots = json::array();
    for (const auto& folder : me.roots)
      roots.push_back({{"uri", "file://" + folder}, {"name", folder}});
    return json{{"roots", std::move(roots)}};
  }
  if (method == "elicitation/create") {
    const auto schema = object_at(params, "requestedSchema");
    auto content = defaults_of_form(schema);
    if (!me.fills_forms || !asks_by_form(params) ||
        !is_complete(content, schema))
      return json{{"action", "decline"}};
    return json{{"action", "accept"}, {"content", std::move(content)}};
  }
  return rpc_error{code::method_not_found,
                   "this client does not answer " + with_dots(method, 100),
                   {}};
}

std::optional<expected<introduction>> judge_discovery(const answer& x) {
  if (const auto* gone = std::get_if<lost>(&x)) return failure(gone->why);
  if (const auto* result = std::get_if<json>(&x)) {
    // Some servers answer anything.
    if (!result->value("supportedVersions", json()).is_array()) return {};
    return read_discovery(*result);
  }
  const auto& error = std::get<rpc_error>(x);
  // Of another era or not: no other word helps, and its answer to that would
  // hide what does.
  if (error.number == code::not_let_in) return failure(error.message);
  if (error.number != code::unsupported_version) return {};
  const auto data = error.data.is_object() ? error.data : json::object();
  const auto offered = data.find("supported");
  if (offered != data.end() && !offers_modern(*offered)) {
    for (const auto version : legacy_versions)
      if (std::ranges::find(*offered, json(version)) != offered->end())
        return {};
  }
  return failure("the server refuses the version " +
                 std::string{modern_version} + ": " + render(error));
}

expected<introduction> judge_initialize(const answer& x) {
  if (const auto* gone = std::get_if<lost>(&x)) return failure(gone->why);
  if (const auto* error = std::get_if<rpc_error>(&x))
    return failure("it refuses to begin: " + render(*error));
  const auto& result = std::get<json>(x);
  introduction out;
  out.version = text_at(result, "protocolVersion");
  if (!speaks(out.version) || out.version == modern_version)
    return failure("it speaks the version \"" +
                   with_dots(redact(out.version), 40) +
                   "\" of the protocol, which this client does not know");
  const auto about = object_at(result, "serverInfo");
  out.name = redact(text_at(about, "name"));
  out.server_version = redact(text_at(about, "version"));
  out.instructions =
      with_dots(redact(text_at(result, "instructions")), longest_advice);
  read_capabilities(out, object_at(result, "capabilities"));
  return out;
}

std::vector<std::string> read_templates(const json& page) {
  constexpr std::size_t most = 20;
  constexpr std::size_t longest = 200;
  std::vector<std::string> out;
  const auto all = page.find("resourceTemplates");
  if (all == page.end() || !all->is_array()) return out;
  for (const auto& x : *all) {
    if (!x.is_object() || out.size() == most) continue;
    auto text = text_at(x, "uriTemplate");
    const bool plain = std::ranges::all_of(
        text, [](char c) { return c > ' ' && c < 0x7f && c != '`'; });
    if (plain && !text.empty() && text.size() <= longest)
      out.push_back(std::move(text));
  }
  return out;
}

expected<std::optional<std::string>> page_reader::on_page(const json& result) {
  const auto page = result.find(key_);
  if (page == result.end() || !page->is_array())
    return failure("a page without the list \"" + key_ + "\"");
  for (const auto& x : *page) {
    if (items_.size() >= most_items)
      return failure("more than 5000 " + key_ + ", which nobody can use");
    items_.push_back(what_is_read(x));
    bytes_ += to_text(items_.back()).size();
    if (bytes_ > most_bytes)
      return failure("its list of " + key_ + " is larger than 32 MB");
  }
  const auto next = result.find("nextCursor");
  if (next == result.end() || next->is_null()) return std::nullopt;
  if (!next->is_string()) return failure("a cursor that is no text");
  auto cursor = next->get<std::string>();
  if (!seen_.insert(cursor).second)
    return failure("its list of " + key_ + " goes round in a circle");
  if (++pages_ >= most_pages)
    return failure("its list of " + key_ + " has more than 200 pages");
  return cursor;
}

}  // namespace riffle::mcp
