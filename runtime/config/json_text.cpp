// SPDX-License-Identifier: MIT
#include "runtime/config/json_text.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "runtime/config/reader.hpp"
#include "tools/arguments.hpp"

namespace riffle::config {

namespace {

using nlohmann::json;

/// False where TOML has a value that JSON lacks: `problem` says which.
bool convert(const value& x, json& out, std::string& problem) {
  switch (x.type) {
    case kind::boolean: out = x.flag; return true;
    case kind::integer: out = x.integer; return true;
    case kind::text: out = x.text; return true;
    case kind::real:
      out = x.real;
      if (!std::isfinite(x.real)) problem = "JSON has no such number";
      return std::isfinite(x.real);
    case kind::time:
      problem = "JSON has no dates and times; write a text";
      return false;
    case kind::list:
      out = json::array();
      for (const auto& item : x.items)
        if (!convert(item, out.emplace_back(), problem)) return false;
      return true;
    case kind::table: break;
  }
  out = json::object();
  for (const auto& item : x.items)
    if (!convert(item, out[item.key], problem)) {
      problem.insert(0, key_text(item.key) + ": ");
      return false;
    }
  return true;
}

}  // namespace

tl::expected<std::string, std::string> to_json(const value& x) {
  if (x.type == kind::text) {
    auto parsed = tools::parse_object(x.text);
    if (!parsed) return tl::unexpected{"is no JSON object: " + parsed.error()};
    return parsed->dump();
  }
  if (x.type != kind::table)
    return tl::unexpected{
        "must be a table, or a text that holds a JSON object, not " +
        std::string{describe(x.type)}};
  json out;
  std::string problem;
  if (!convert(x, out, problem)) return tl::unexpected{problem};
  return out.dump();
}

std::string not_a_text(const std::string& object) {
  const auto parsed = json::parse(object, nullptr, false);
  for (const auto& [name, x] : parsed.items())
    if (!x.is_string()) return key_text(name);
  return {};
}

std::map<std::string, std::string> texts_of(const std::string& object) {
  std::map<std::string, std::string> out;
  const auto parsed = json::parse(object, nullptr, false);
  if (!parsed.is_object()) return out;
  for (const auto& [name, x] : parsed.items())
    if (x.is_string()) out[name] = x.get<std::string>();
  return out;
}

}  // namespace riffle::config
