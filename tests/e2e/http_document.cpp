// SPDX-License-Identifier: MIT
#include "tests/e2e/http_document.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace riffle::testing {

namespace {

using nlohmann::json;

std::string upper(std::string x) {
  for (char& c : x) c = static_cast<char>(std::toupper(c));
  return x;
}

std::string filled(std::string path, const std::string& name) {
  for (auto at = path.find('{'); at != std::string::npos; at = path.find('{'))
    path.replace(at, path.find('}') - at + 1, name);
  return path;
}

bool is_open(const json& about) {
  return about.contains("security") && about["security"].empty();
}

/// Values of other types, outside of bounds, of no enumeration.
std::vector<json> wrong_values(const json& schema) {
  if (!schema.contains("type")) return {};
  std::vector<json> out;
  const auto type = schema["type"];
  const auto is = [&](const char* x) {
    return type == x || (type.is_array() && std::find(type.begin(), type.end(),
                                                      json(x)) != type.end());
  };
  if (!is("string")) out.emplace_back("text");
  if (!is("integer") && !is("number")) out.emplace_back(17);
  if (!is("boolean")) out.emplace_back(true);
  if (!is("array")) out.push_back(json::array({1}));
  if (!is("object")) out.push_back(json{{"a", 1}});
  if (is("integer")) out.emplace_back(1.5);
  if (schema.contains("minimum"))
    out.emplace_back(schema["minimum"].get<std::int64_t>() - 1);
  if (schema.contains("maximum"))
    out.emplace_back(schema["maximum"].get<std::int64_t>() + 1);
  if (schema.contains("enum")) out.emplace_back("none of these");
  if (schema.contains("minLength")) out.emplace_back("");
  return out;
}

}  // namespace

json http_document::resolved(const json& schema) const {
  if (!schema.contains("$ref")) return schema;
  const std::string at = schema["$ref"];
  return all_.at(json::json_pointer{at.substr(1)});
}

std::vector<http_operation> http_document::operations(
    const std::string& name) const {
  std::vector<http_operation> out;
  for (const auto& [path, methods] : all_["paths"].items())
    for (const auto& [method, about] : methods.items()) {
      http_operation x{upper(method), filled(path, name), is_open(about), {}};
      if (about.contains("requestBody"))
        x.body = about["requestBody"]["content"]["application/json"]["schema"];
      out.push_back(std::move(x));
    }
  return out;
}

json http_document::sample(const json& given) const {
  const auto schema = resolved(given);
  if (schema.contains("enum")) return schema["enum"][0];
  if (schema.contains("anyOf")) return sample(schema["anyOf"][0]);
  if (schema.contains("oneOf")) return sample(schema["oneOf"][0]);
  const std::string type = schema.value("type", "object");
  if (type == "string") return "x";
  if (type == "integer" || type == "number") return schema.value("minimum", 1);
  if (type == "boolean") return true;
  if (type == "array")
    return json::array({sample(schema.value("items", json::object()))});
  json out = json::object();
  for (const auto& name : schema.value("required", json::array()))
    out[name.get<std::string>()] =
        sample(schema["properties"][name.get<std::string>()]);
  return out;
}

std::vector<json> http_document::misfits(const json& given) const {
  const auto schema = resolved(given);
  std::vector<json> out{json::array(), 17, "text", true};
  if (schema.value("type", "") != "object") return {};
  const auto good = sample(schema);
  if (!schema.value("additionalProperties", true)) {
    out.push_back(good);
    out.back()["no_such_member"] = 1;
  }
  for (const auto& name : schema.value("required", json::array())) {
    out.push_back(good);
    out.back().erase(name.get<std::string>());
  }
  for (const auto& [name, about] : schema["properties"].items())
    for (auto& value : wrong_values(resolved(about))) {
      out.push_back(good);
      out.back()[name] = std::move(value);
    }
  return out;
}

}  // namespace riffle::testing
