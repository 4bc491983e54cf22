// SPDX-License-Identifier: MIT
#include "runtime/service/answer_form.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "messages/json_strict.hpp"
#include "runtime/base/text.hpp"
#include "tools/arguments.hpp"
#include "tools/schema.hpp"

namespace riffle::service {

namespace {

/// "```json\n…\n```" without its first and last line.
std::string_view without_fence(std::string_view whole) {
  constexpr std::string_view fence = "```";
  auto text = trimmed(whole);
  if (!text.starts_with(fence) || !text.ends_with(fence)) return whole;
  const auto begin = text.find('\n');
  if (begin == text.npos || text.size() < begin + 1 + fence.size()) return text;
  text.remove_prefix(begin + 1);
  text.remove_suffix(fence.size());
  return trimmed(text);
}

std::string list_of(const std::vector<tools::violation>& all) {
  std::string out;
  for (const auto& x : all)
    out += (out.empty() ? "" : "; ") +
           (x.pointer.empty() ? std::string{} : x.pointer + ": ") + x.message;
  return out;
}

}  // namespace

expected<answer_check> make_answer_check(const std::string& schema) {
  auto compiled = tools::schema::compile(schema);
  if (!compiled)
    return unexpected{error{
        errc::invalid_request,
        "runtime",
        "response_schema is no JSON Schema of an object: " + compiled.error(),
        false,
        {}}};
  const auto form = std::make_shared<tools::schema>(*std::move(compiled));
  return [form](std::string& text) -> std::string {
    const auto inside = without_fence(text);
    const auto value = parse_strict(inside);
    if (!value) return "it is no JSON";
    if (!value->is_object()) return "it is no JSON object";
    if (auto once = tools::parse_object(inside); !once) return once.error();
    const auto wrong = form->check(*value);
    if (!wrong.empty()) return list_of(wrong);
    text = std::string{inside};
    return {};
  };
}

bool can_be_arguments(const std::string& schema) {
  const auto x = nlohmann::json::parse(schema, nullptr, false);
  if (!x.is_object() || x.value("type", nlohmann::json{}) != "object")
    return false;
  constexpr std::array others{"anyOf", "oneOf", "allOf", "not",
                              "enum",  "const", "if",    "$ref"};
  return std::ranges::none_of(
      others, [&](const char* name) { return x.contains(name); });
}

std::string complete_parameters(const std::string& schema) {
  using nlohmann::ordered_json;
  if (can_be_arguments(schema)) {
    auto out = ordered_json::parse(schema);
    out.erase("$schema");
    if (!out.contains("properties")) out["properties"] = ordered_json::object();
    return out.dump();
  }
  const ordered_json out{
      {"type", "object"},
      {"properties",
       {{"answer",
         {{"type", "string"},
          {"description",
           "The final answer: a text that is one JSON object and nothing else, "
           "valid for this JSON Schema: " +
               schema}}}}},
      {"required", {"answer"}},
      {"additionalProperties", false}};
  return out.dump();
}

std::string complete_description(const std::string& schema) {
  return std::string{
             "Ends the task with the final answer. Call it once, when "
             "everything is done: "} +
         (can_be_arguments(schema) ? "its arguments are the answer."
                                   : "its argument holds the answer.");
}

}  // namespace riffle::service
