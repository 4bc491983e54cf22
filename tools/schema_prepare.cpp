// SPDX-License-Identifier: MIT
// Schemas come from configuration and from servers that nobody vouches for:
// here is refused what would make a validator recurse without end.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "tools/arguments.hpp"
#include "tools/schema.hpp"

namespace riffle::tools {

namespace {

using nlohmann::json;

constexpr std::size_t max_schema_bytes = 1u << 20;
constexpr std::size_t max_references = 200;
constexpr std::size_t max_height = 32;

struct bad_schema {
  std::string why;
};

bool holds_schemas_by_name(const std::string& key) {
  static const std::set<std::string, std::less<>> keys = {
      "properties",        "definitions",  "$defs",
      "patternProperties", "dependencies", "dependentSchemas"};
  return keys.contains(key);
}

bool holds_values(const std::string& key) {
  return key == "enum" || key == "const" || key == "default" ||
         key == "examples";
}

/// Moves aside what valijson would match by backtracking, or compare each with
/// each.
void simplify(json& node, schema_patterns& patterns) {
  node.erase("format");
  for (const auto* ours : {pattern_key, unique_key}) node.erase(ours);
  if (node.value("uniqueItems", json{}) == true) {
    node[unique_key] = true;
    node.erase("uniqueItems");
  }
  if (const auto it = node.find("pattern");
      it != node.end() && it->is_string()) {
    const auto& pattern = it->get_ref<const std::string&>();
    auto compiled = schema_pattern::compile(pattern);
    if (!compiled) throw bad_schema{"cannot use the pattern " + it->dump()};
    patterns.emplace(pattern, std::move(*compiled));
    node[pattern_key] = std::move(*it);
    node.erase("pattern");
  }
  if (node.contains("patternProperties")) {
    node.erase("patternProperties");
    node.erase("additionalProperties");
  }
}

/// Visits every schema in `node`.
void simplify_all(json& node, prepared_schema& out) {
  if (node.is_array()) {
    for (auto& x : node) simplify_all(x, out);
    return;
  }
  if (!node.is_object()) return;
  simplify(node, out.patterns);
  for (auto& [key, value] : node.items()) {
    if (holds_values(key)) continue;
    if (holds_schemas_by_name(key) && value.is_object())
      for (auto& x : value) simplify_all(x, out);
    else
      simplify_all(value, out);
  }
}

/// Each schema begins with a step: valijson tries `allOf` first, and leaves the
/// rest out once something does not fit. Where there is an `allOf` its first
/// schema has one already, and stays at its place, to which others may refer.
void add_steps(json& node, std::size_t& schemas) {
  if (node.is_array()) {
    for (auto& x : node) add_steps(x, schemas);
    return;
  }
  if (!node.is_object()) return;
  for (auto& [key, value] : node.items()) {
    if (holds_values(key)) continue;
    if (holds_schemas_by_name(key) && value.is_object())
      for (auto& x : value) add_steps(x, schemas);
    else
      add_steps(value, schemas);
  }
  ++schemas;
  const json step = {{step_key, true}};
  auto& all = node["allOf"];
  if (all.is_null()) all = json::array({step});
  if (all.is_array() && !all.empty() && all.front() == true) all.front() = step;
}

/// Finds schemas that lead back to themselves without consuming anything of
/// the value, e.g. `{"allOf": [{"$ref": "#"}]}`.
class loop_finder {
 public:
  explicit loop_finder(const json& root) : root_{root} {}

  void visit_all(const json& node) {
    if (node.is_object()) height(node, 0);
    if (node.is_structured())
      for (const auto& x : node) visit_all(x);
  }

 private:
  std::size_t height(const json& node, std::size_t depth) {
    if (!node.is_object()) return 0;
    if (depth > max_height) throw bad_schema{"references are nested too deep"};
    const auto [it, fresh] = heights_.try_emplace(&node, open);
    if (!fresh) {
      if (it->second == open)
        throw bad_schema{"a reference leads back to itself"};
      return it->second;
    }
    std::size_t result = 0;
    for (const auto* key : {"allOf", "anyOf", "oneOf"})
      if (const auto list = node.find(key);
          list != node.end() && list->is_array())
        for (const auto& x : *list)
          result = std::max(result, 1 + height(x, depth + 1));
    for (const auto* key : {"not", "if", "then", "else"})
      if (const auto x = node.find(key); x != node.end())
        result = std::max(result, 1 + height(*x, depth + 1));
    if (const auto ref = node.find("$ref");
        ref != node.end() && ref->is_string())
      result = std::max(result, 1 + height(target(*ref), depth + 1));
    if (depth + result > max_height)
      throw bad_schema{"references are nested too deep"};
    return heights_[&node] = result;
  }

  const json& target(const json& ref) {
    const auto& text = ref.get_ref<const std::string&>();
    targets_.insert(text);
    if (targets_.size() > max_references)
      throw bad_schema{"more than " + std::to_string(max_references) +
                       " different references"};
    try {
      if (text.starts_with('#'))
        return root_.at(json::json_pointer{text.substr(1)});
    } catch (const json::exception&) {
    }
    throw bad_schema{"the reference " + ref.dump() +
                     " does not lead to a place in the schema"};
  }

  static constexpr std::size_t open = static_cast<std::size_t>(-1);
  const json& root_;
  std::map<const json*, std::size_t> heights_;
  std::set<std::string> targets_;
};

}  // namespace

tl::expected<prepared_schema, std::string> prepare_schema(
    std::string_view text) {
  if (text.size() > max_schema_bytes)
    return tl::unexpected{std::string{"is over 1 MB"}};
  auto root = parse_object(text);
  if (!root) return tl::unexpected{std::move(root).error()};
  if (root->value("type", json{}) != "object")
    return tl::unexpected{std::string{R"(must say "type": "object")"}};
  prepared_schema out;
  try {
    simplify_all(*root, out);
    loop_finder{*root}.visit_all(*root);
    add_steps(*root, out.schemas);
  } catch (bad_schema& bad) {
    return tl::unexpected{std::move(bad.why)};
  }
  out.root = std::move(*root);
  return out;
}

}  // namespace riffle::tools
