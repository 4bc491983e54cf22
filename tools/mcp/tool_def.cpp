// SPDX-License-Identifier: MIT
// Tools of a server's list: what is read of them, and what is cut.
#include <algorithm>
#include <set>
#include <utility>

#include "runtime/base/digest.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"
#include "tools/mcp/list_parts.hpp"
#include "tools/mcp/protocol.hpp"
#include "tools/shared_schema.hpp"

namespace riffle::mcp {

namespace {

constexpr std::size_t longest_name = 128;
constexpr std::size_t longest_title = 100;
constexpr std::size_t longest_description = 4096;
constexpr std::size_t largest_schema = 64u << 10;
constexpr std::size_t deepest_schema = 64;
/// Of what is wrong with one; it may quote what is.
constexpr std::size_t longest_problem = 300;

unexpected no_tool(std::string message) {
  return unexpected{error{.code = errc::tool_unavailable,
                          .op = "mcp",
                          .message = std::move(message)}};
}

/// Of an object; null if it has none.
const json& at(const json& x, const char* key) {
  static const json none;
  const auto found = x.find(key);
  return found == x.end() ? none : *found;
}

std::string text_at(const json& x, const char* key, std::size_t limit) {
  const auto found = x.find(key);
  if (found == x.end() || !found->is_string()) return {};
  return with_dots(found->get_ref<const std::string&>(), limit);
}

/// People and models read its texts. Names stay, as calls need them.
void hide_secrets(json& x) {
  if (x.is_string())
    x = redact(x.get<std::string>());
  else if (x.is_structured())
    for (auto& one : x) hide_secrets(one);
}

std::optional<bool> flag_at(const json& x, const char* key) {
  const auto found = x.find(key);
  if (found == x.end() || !found->is_boolean()) return {};
  return found->get<bool>();
}

/// Providers take an object at the top, and nothing that chooses one there.
bool is_plain_object(const json& x) {
  for (const auto* key : {"$ref", "oneOf", "anyOf", "allOf", "not", "enum"})
    if (x.contains(key)) return false;
  const auto type = x.find("type");
  return type != x.end() && *type == "object";
}

/// A schema that providers take: choices at the top become an object with the
/// properties of all of them, of which the server judges.
json flattened(const json& x) {
  auto out = x;
  for (const auto* key : {"$ref", "oneOf", "anyOf", "allOf", "not", "enum"})
    out.erase(key);
  out["type"] = "object";
  out["properties"] = json::object();
  const auto take = [&](const json& from) {
    const auto found = from.find("properties");
    if (found == from.end() || !found->is_object()) return;
    for (const auto& [name, value] : found->items())
      if (!out["properties"].contains(name)) out["properties"][name] = value;
  };
  take(x);
  for (const auto* key : {"oneOf", "anyOf", "allOf"}) {
    const auto all = x.find(key);
    if (all == x.end() || !all->is_array()) continue;
    for (const auto& one : *all)
      if (one.is_object()) take(one);
  }
  if (const auto ref = x.find("$ref"); ref != x.end() && ref->is_string()) {
    const auto& text = ref->get_ref<const std::string&>();
    for (const auto* key : {"$defs", "definitions"}) {
      const auto prefix = std::string{"#/"} + key + "/";
      if (!text.starts_with(prefix) || !x.contains(key)) continue;
      const auto found = x.at(key).find(text.substr(prefix.size()));
      if (found != x.at(key).end() && found->is_object()) take(*found);
    }
  }
  return out;
}

expected<std::string> read_schema(const json& given) {
  auto text = given.is_object() ? to_text(given) : "{\"type\":\"object\"}";
  if (text.size() > largest_schema)
    return no_tool("its schema is larger than 64 KB");
  if (is_plain_object(given) && tools::shared_schema::try_out(text))
    return text;
  auto plain = to_text(flattened(given.is_object() ? given : json::object()));
  if (auto well = tools::shared_schema::try_out(plain); !well)
    return no_tool("its schema is none: " + well.error());
  return plain;
}

bool is_header_name(std::string_view x) {
  return !x.empty() && x.size() <= 100 && std::ranges::all_of(x, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
}

/// Whether `x-mcp-header` stands anywhere below.
bool names_header(const json& x, std::size_t depth = 0) {
  if (depth > deepest_schema || !x.is_structured()) return false;
  if (x.is_object() && x.contains("x-mcp-header")) return true;
  return std::ranges::any_of(
      x, [&](const json& one) { return names_header(one, depth + 1); });
}

bool read_header(const std::string& pointer, const json& x, tool_def& out) {
  const auto& name = x.at("x-mcp-header");
  const auto type = x.value("type", json());
  const bool plain = type == "string" || type == "integer" || type == "boolean";
  if (!plain || !name.is_string()) return false;
  auto text = name.get<std::string>();
  if (!is_header_name(text)) return false;
  for (const auto& [other, used] : out.headers)
    if (lower(used) == lower(text)) return false;
  out.headers.emplace(pointer, std::move(text));
  return true;
}

std::string escaped(std::string name) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '~' && name[i] != '/') continue;
    name.replace(i, 1, name[i] == '~' ? "~0" : "~1");
    ++i;
  }
  return name;
}

/// Those that properties alone lead to; elsewhere they are not allowed.
bool read_headers(const json& schema, const std::string& at, tool_def& out,
                  std::size_t depth = 0) {
  if (depth > deepest_schema) return true;
  for (const auto& [key, value] : schema.items()) {
    if (key != "properties") {
      if (key != "x-mcp-header" && names_header(value)) return false;
      continue;
    }
    if (!value.is_object()) continue;
    for (const auto& [name, property] : value.items()) {
      if (!property.is_object()) continue;
      const auto pointer = at + "/" + escaped(name);
      if (property.contains("x-mcp-header") &&
          !read_header(pointer, property, out))
        return false;
      if (!read_headers(property, pointer, out, depth + 1)) return false;
    }
  }
  return true;
}

/// The schema as it is read: which values go into headers, too, is between the
/// server and its proxies.
std::string without_headers(const tool_def& x) {
  if (x.headers.empty()) return x.input_schema;
  auto schema = json::parse(x.input_schema, nullptr, false);
  for (const auto& [pointer, ignored] : x.headers) {
    std::string where;  // "/a/b" of a value is "/properties/a/properties/b"
    for (const auto c : pointer)
      where += c == '/' ? std::string{"/properties/"} : std::string{c};
    const json::json_pointer at{where};
    if (schema.contains(at) && schema.at(at).is_object())
      schema.at(at).erase("x-mcp-header");
  }
  return to_text(schema);
}

}  // namespace

std::string digest_of(const tool_def& x) {
  const auto flag = [](const std::optional<bool>& y) {
    return y ? json(*y) : json();
  };
  return sha256(to_text(
      json{{"name", x.name},
           {"title", x.title},
           {"description", x.description},
           {"input", without_headers(x)},
           {"output", x.output_schema},
           {"hints", json::array({flag(x.read_only), flag(x.destructive),
                                  flag(x.idempotent), flag(x.open_world)})}}));
}

expected<tool_def> read_tool(const json& said) {
  if (!said.is_object()) return no_tool("a tool that is no object");
  auto x = said;
  hide_secrets(x);
  tool_def out;
  const auto& name = at(said, "name");
  if (name.is_string()) out.name = name.get<std::string>();
  if (out.name.empty()) return no_tool("a tool without a name");
  if (out.name.size() > longest_name)
    return no_tool("a tool whose name is longer than 128 bytes");
  if (x.contains(unreadable))
    return no_tool(
        "its definition cannot be read: it is nested too deep, no JSON, or a "
        "key stands there twice");
  const auto& hints = at(x, "annotations");
  out.title = text_at(x, "title", longest_title);
  if (hints.is_object()) {
    if (out.title.empty()) out.title = text_at(hints, "title", longest_title);
    out.read_only = flag_at(hints, "readOnlyHint");
    out.destructive = flag_at(hints, "destructiveHint");
    out.idempotent = flag_at(hints, "idempotentHint");
    out.open_world = flag_at(hints, "openWorldHint");
  }
  out.description = text_at(x, "description", longest_description);
  const auto& given = at(x, "inputSchema");
  auto schema = read_schema(given);
  if (!schema) return unexpected{std::move(schema.error())};
  out.input_schema = *std::move(schema);
  if (given.is_object() && !read_headers(given, "", out))
    return no_tool("an x-mcp-header of its schema is not allowed there");
  if (const auto& result = at(x, "outputSchema"); result.is_object())
    if (auto text = to_text(result); text.size() <= largest_schema)
      out.output_schema = std::move(text);
  const auto& execution = at(x, "execution");
  out.needs_task =
      execution.is_object() && at(execution, "taskSupport") == "required";
  return out;
}

std::vector<tool_def> read_tools(const std::vector<json>& items,
                                 std::vector<std::string>& problems) {
  std::vector<tool_def> out;
  std::set<std::string> names;
  for (const auto& x : items) {
    auto tool = read_tool(x);
    if (!tool) {
      auto name = x.is_object() ? text_at(x, "name", longest_name) : "";
      problems.push_back((name.empty() ? "" : name + ": ") +
                         with_dots(tool.error().message, longest_problem));
    } else if (!names.insert(tool->name).second) {
      problems.push_back(tool->name + ": there are two tools with this name");
    } else {
      out.push_back(*std::move(tool));
    }
  }
  return out;
}

}  // namespace riffle::mcp
