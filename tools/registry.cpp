// SPDX-License-Identifier: MIT
#include "tools/registry.hpp"

#include <algorithm>
#include <utility>

#include "tools/arguments.hpp"
#include "tools/shared_schema.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

namespace {

constexpr std::size_t longest_name = 64;

bool well_formed(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= longest_name &&
         std::all_of(name.begin(), name.end(), allowed);
}

/// A name that a model made up, safe and short.
std::string in_quotes(std::string_view name) {
  std::string valid;
  utf8_stream utf8;
  utf8.feed(name.substr(0, 200), valid);
  utf8.finish(valid);
  return nlohmann::json(std::string{cut_utf8(valid, longest_name)}).dump();
}

unexpected invalid_config(std::string message) {
  return unexpected{error{.code = errc::invalid_config,
                          .op = "tools.add",
                          .message = std::move(message)}};
}

unexpected invalid_arguments(std::string_view name, std::string why) {
  return unexpected{error{.code = errc::invalid_arguments,
                          .op = "tools.check",
                          .message = "the arguments of " + std::string{name} +
                                     " are not valid: " + std::move(why)}};
}

std::string listed(const std::vector<violation>& all) {
  std::string result;
  for (const auto& x : all) {
    if (!result.empty()) result += "; ";
    if (!x.pointer.empty())
      result.append("at ").append(cut_utf8(x.pointer, 200)).append(": ");
    result += x.message;
  }
  return result;
}

/// Of what `parse_object` took: without the blanks between its parts.
std::string compact(std::string_view text) {
  text.remove_prefix(std::min(text.find('{'), text.size()));
  std::string out;
  out.reserve(text.size());
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!quoted && blank) continue;
    out.push_back(c);
    if (quoted && c == '\\') out.push_back(text[++i]);
    if (c == '"') quoted = !quoted;
  }
  return out.empty() ? "{}" : out;
}

}  // namespace

std::string compact_arguments(std::string_view text) {
  return parse_object(text) ? compact(text) : std::string{};
}

bool are_same_arguments(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const auto x = parse_object(a);
  const auto y = parse_object(b);
  return x && y && *x == *y;
}

expected<checked_arguments> any_arguments(std::string_view name,
                                          std::string_view arguments_text) {
  auto value = parse_object(arguments_text);
  if (!value) return invalid_arguments(name, std::move(value).error());
  return checked_arguments{std::move(*value), compact(arguments_text)};
}

struct registry::entry {
  tool_ptr tool;
  std::shared_ptr<const shared_schema> parameters;
};

registry::registry() = default;
registry::~registry() = default;
registry::registry(registry&&) noexcept = default;
registry& registry::operator=(registry&&) noexcept = default;

expected<void> registry::add(tool_ptr x) {
  if (!x) return invalid_config("a tool is a null pointer");
  const auto& spec = x->spec();
  if (!well_formed(spec.name))
    return invalid_config("the tool name " + in_quotes(spec.name) +
                          " is not allowed: use 1 to 64 letters, digits, "
                          "'_' and '-'");
  if (tools_.contains(spec.name))
    return invalid_config("there are two tools with the name " +
                          in_quotes(spec.name));
  auto parameters = shared_schema::of(spec.parameters);
  if (!parameters)
    return invalid_config("the parameters of the tool " + in_quotes(spec.name) +
                          " are no usable JSON Schema: " + parameters.error());
  auto name = spec.name;
  tools_.emplace(std::move(name), std::make_unique<entry>(entry{
                                      std::move(x), std::move(*parameters)}));
  return {};
}

const tool_ptr* registry::find(std::string_view name) const noexcept {
  const auto it = tools_.find(name);
  return it == tools_.end() ? nullptr : &it->second->tool;
}

std::vector<std::string> registry::names() const {
  std::vector<std::string> result;
  for (const auto& [name, ignored] : tools_) result.push_back(name);
  return result;
}

expected<checked_arguments> registry::check(
    std::string_view name, std::string_view arguments_text) const {
  const auto it = tools_.find(name);
  if (it == tools_.end()) {
    auto message = "there is no tool " + in_quotes(name);
    const auto all = names();
    if (const auto close = close_names(name, all); !close.empty())
      message += "; did you mean " + join_some(close, 3) + "?";
    else if (!all.empty())
      message += "; there are: " + join_some(all, 20);
    return unexpected{error{.code = errc::tool_not_found,
                            .op = "tools.check",
                            .message = std::move(message)}};
  }
  auto out = any_arguments(name, arguments_text);
  if (!out) return out;
  if (const auto wrong = it->second->parameters->check(out->value);
      !wrong.empty())
    return invalid_arguments(name, listed(wrong));
  bool less = false;
  for (const auto& remark : it->second->tool->spec().remarks)
    less = out->value.erase(remark) > 0 || less;
  if (less) out->text = out->value.dump();
  return out;
}

}  // namespace riffle::tools
