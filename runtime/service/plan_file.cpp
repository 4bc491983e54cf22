// SPDX-License-Identifier: MIT
#include "runtime/service/plan_file.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "actors/core/control_tools.hpp"
#include "runtime/model/scripted_document.hpp"

namespace riffle::service {

namespace {

/// Mistakes that are told; a plan with more is wrong as a whole.
constexpr std::size_t most_told = 100;

bool is_json(const std::string& text, const std::string& name) {
  if (name.ends_with(".json")) return true;
  if (name.ends_with(".toml")) return false;
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{';
}

model::script_format format_of(const std::string& text,
                               const std::string& name) {
  return is_json(text, name) ? model::script_format::json
                             : model::script_format::toml;
}

std::string on_one_line(const nlohmann::json& x) {
  return x.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// "/steps/2/tool" as people write it: "steps[2].tool".
std::string key_of(const std::string& pointer) {
  std::string out;
  for (std::size_t at = 0; at < pointer.size();) {
    const auto end = std::min(pointer.find('/', at + 1), pointer.size());
    const auto part = pointer.substr(at + 1, end - at - 1);
    const bool number = !part.empty() && part.find_first_not_of("0123456789") ==
                                             std::string::npos;
    if (number)
      out += "[" + part + "]";
    else
      out += (out.empty() ? "" : ".") + part;
    at = end;
  }
  return out;
}

/// The step that "/steps/2/tool" is of, counted as elsewhere, with its id.
std::string step_of(const nlohmann::json& root, const std::string& pointer) {
  constexpr std::string_view steps = "/steps/";
  constexpr std::size_t longest_id = 64;
  if (!pointer.starts_with(steps)) return {};
  const auto end = std::min(pointer.find('/', steps.size()), pointer.size());
  const nlohmann::json::json_pointer at{pointer.substr(0, end)};
  if (!root.contains(at)) return {};
  const auto number =
      std::stoul(pointer.substr(steps.size(), end - steps.size()));
  const auto& step = root.at(at);
  const auto id = step.is_object() ? step.find("id") : step.end();
  const bool named = id != step.end() && id->is_string() &&
                     id->get_ref<const std::string&>().size() <= longest_id;
  return "step " + std::to_string(number + 1) +
         (named ? " \"" + id->get<std::string>() + "\"" : "");
}

/// "steps[2].tool" behind the step's own name.
std::string key_in_step(const std::string& key) {
  const auto end = key.find(']');
  if (end == std::string::npos || end + 2 >= key.size()) return {};
  return key.substr(end + 2) + ": ";
}

/// Of the part itself, or of the smallest one around it that has a place.
std::string place_of(const model::script_document& from, std::string pointer) {
  for (;;) {
    const auto place = from.place_of ? from.place_of(pointer) : std::string{};
    if (!place.empty()) return from.name + ":" + place;
    if (pointer.empty()) return from.name;
    pointer.resize(pointer.rfind('/'));
  }
}

core::tool_check check_of(
    const tools::registry& tools,
    const std::function<bool(const std::string&)>& elsewhere) {
  return [&tools, elsewhere](const std::string& name,
                             const std::string* arguments) -> std::string {
    if (core::is_control_tool(name))
      return "`" + name + "` is for agents; a plan cannot call it";
    const bool here = tools.find(name) != nullptr;
    if (!here && elsewhere && elsewhere(name)) return {};
    if (!here) {
      std::string all;
      for (const auto& x : tools.names())
        if (!core::is_control_tool(x)) all += (all.empty() ? "" : ", ") + x;
      return "there is no tool `" + name + "`; there are: " + all;
    }
    if (arguments == nullptr) return {};
    const auto ok = tools.check(name, *arguments);
    return ok ? std::string{} : ok.error().message;
  };
}

std::pair<std::size_t, std::size_t> line_of(const std::string& place) {
  const auto column = place.rfind(':');
  const auto line = column == 0 || column == std::string::npos
                        ? column
                        : place.rfind(':', column - 1);
  if (line == std::string::npos) return {};
  const auto number = [](const std::string& text) {
    std::size_t out = 0;
    for (const char c : text)
      if (c >= '0' && c <= '9')
        out = out * 10 + static_cast<std::size_t>(c - '0');
    return out;
  };
  return {number(place.substr(line + 1, column - line - 1)),
          number(place.substr(column + 1))};
}

}  // namespace

std::string render(const plan_problem& x) {
  if (!x.step.empty())
    return x.place + ": " + x.step + ": " + key_in_step(x.key) + x.text;
  return x.place + ": " + (x.key.empty() ? "" : x.key + ": ") + x.text;
}

checked_plan read_plan(
    const std::string& text, const std::string& name,
    const tools::registry& tools,
    const std::function<bool(const std::string&)>& elsewhere) {
  checked_plan out;
  const auto read = model::parse_document(text, format_of(text, name), name);
  if (!read) {
    auto why = read.error().message;
    auto place = name;
    if (why.starts_with(name + ":")) {
      const auto end = std::min(why.find(": ", name.size()), why.size());
      place = why.substr(0, end);
      why.erase(0, end + 2);
    }
    out.problems.push_back({std::move(place), {}, std::move(why)});
    return out;
  }
  for (const auto& x : read->problems) out.problems.push_back({name, {}, x});
  auto found = core::read_plan_document(read->root, check_of(tools, elsewhere));
  for (auto& x : found.mistakes)
    out.problems.push_back({place_of(*read, x.pointer), key_of(x.pointer),
                            std::move(x.text), step_of(read->root, x.pointer)});
  std::ranges::stable_sort(
      out.problems, {}, [](const plan_problem& x) { return line_of(x.place); });
  out.document = std::move(found.plan);
  out.text = on_one_line(read->root);
  return out;
}

std::string plan_text(const std::string& text, const std::string& name) {
  const auto read = model::parse_document(text, format_of(text, name), name);
  return read ? on_one_line(read->root) : std::string{};
}

error invalid_plan(const std::vector<plan_problem>& problems) {
  std::string text;
  for (std::size_t i = 0; i < std::min(problems.size(), most_told); ++i)
    text += (i == 0 ? "" : "\n") + render(problems[i]);
  if (problems.size() > most_told)
    text += "\n… and " + std::to_string(problems.size() - most_told) + " more";
  return {errc::invalid_plan, "plan", std::move(text)};
}

}  // namespace riffle::service
