// SPDX-License-Identifier: MIT
#include "runtime/model/anthropic_form.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "runtime/model/wire_text.hpp"

namespace riffle::model::anthropic {

namespace {

using nlohmann::ordered_json;
using std::string_view;

template <std::size_t N>
bool is_one_of(string_view x, const std::array<string_view, N>& all) {
  return std::ranges::find(all, x) != all.end();
}

constexpr std::array<string_view, 3> named_schemas{"properties", "$defs",
                                                   "definitions"};
constexpr std::array<string_view, 3> listed_schemas{"anyOf", "oneOf", "allOf"};
constexpr std::array<string_view, 8> plain{"type",     "enum",        "const",
                                           "$ref",     "description", "title",
                                           "required", "items"};
constexpr std::array<string_view, 10> formats{
    "date-time", "time", "date", "duration", "email",
    "hostname",  "uri",  "ipv4", "ipv6",     "uuid"};

bool is_taken(string_view key, const ordered_json& value) {
  if (key == "format")
    return value.is_string() &&
           is_one_of(value.get_ref<const std::string&>(), formats);
  if (key == "minItems") return value == 0 || value == 1;
  return is_one_of(key, plain);
}

ordered_json each(ordered_json all) {
  for (auto& x : all) x = form_of(x);
  return all;
}

bool is_object(const ordered_json& x) {
  const auto type = x.find("type");
  return x.contains("properties") || (type != x.end() && *type == "object");
}

void describe(ordered_json& out, const ordered_json& rest) {
  auto text = out.value("description", std::string{});
  if (!text.empty()) text += "\n\n";
  out["description"] = text + wire::text_of(rest);
}

}  // namespace

ordered_json form_of(const ordered_json& schema) {
  if (!schema.is_object()) return schema;
  auto out = ordered_json::object();
  auto rest = ordered_json::object();
  for (const auto& [key, value] : schema.items()) {
    if (is_one_of(key, named_schemas)) {
      out[key] = each(value);
    } else if (is_one_of(key, listed_schemas)) {
      const auto* name = key == "oneOf" ? "anyOf" : key.c_str();
      out[name] = each(value);
    } else if (key == "items") {
      out[key] = form_of(value);
    } else if (is_taken(key, value)) {
      out[key] = value;
    } else if (key != "additionalProperties" && key != "$schema") {
      rest[key] = value;
    }
  }
  if (is_object(out)) out["additionalProperties"] = false;
  if (!rest.empty()) describe(out, rest);
  return out;
}

}  // namespace riffle::model::anthropic
