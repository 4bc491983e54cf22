// SPDX-License-Identifier: MIT
#include "runtime/cli/tasks_file.hpp"

#include <utility>

#include <nlohmann/json.hpp>

namespace riffle::cli {

namespace {

constexpr std::string_view blanks = " \t\r\n";

unexpected mistake(const std::string& place, const std::string& what) {
  return unexpected{error{errc::invalid_request, "run", place + ": " + what}};
}

bool is_blank(std::string_view x) {
  return x.find_first_not_of(blanks) == std::string_view::npos;
}

expected<listed_task> checked(listed_task x, const std::string& place) {
  if (is_blank(x.task)) return mistake(place, "the task is empty");
  return x;
}

expected<listed_task> from_json(const nlohmann::json& x,
                                const std::string& place) {
  if (x.is_string()) return checked({x.get<std::string>()}, place);
  if (!x.is_object())
    return mistake(place, "a task is a text, or an object with \"task\"");
  listed_task out;
  bool has_task = false;
  for (const auto& [key, value] : x.items()) {
    if (!value.is_string())
      return mistake(place, "\"" + key + "\" has to be a text");
    auto text = value.get<std::string>();
    if (key == "task") {
      out.task = std::move(text);
      has_task = true;
      continue;
    }
    if (is_blank(text)) return mistake(place, "\"" + key + "\" is empty");
    if (key == "agent") {
      out.agent = std::move(text);
    } else if (key == "model") {
      out.model = std::move(text);
    } else if (key == "context") {
      out.context = std::move(text);
    } else if (key == "session") {
      out.session = std::move(text);
    } else {
      return mistake(place, "there is no key \"" + key +
                                "\": task, agent, model, context, session");
    }
  }
  if (!has_task) return mistake(place, "\"task\" is missing");
  return checked(std::move(out), place);
}

expected<std::vector<listed_task>> from_array(std::string_view text,
                                              const std::string& name) {
  const auto all = nlohmann::json::parse(text, nullptr, false);
  if (!all.is_array())
    return mistake(name, "begins with '[' and is no JSON array");
  std::vector<listed_task> out;
  for (const auto& x : all) {
    auto task =
        from_json(x, name + ", element " + std::to_string(out.size() + 1));
    if (!task) return unexpected{std::move(task.error())};
    out.push_back(std::move(*task));
  }
  return out;
}

expected<listed_task> from_line(std::string_view line,
                                const std::string& place) {
  if (!line.starts_with('{')) return listed_task{std::string{line}};
  const auto x = nlohmann::json::parse(line, nullptr, false);
  if (x.is_discarded())
    return mistake(place, "begins with '{' and is no JSON object");
  return from_json(x, place);
}

expected<std::vector<listed_task>> from_lines(std::string_view text,
                                              const std::string& name) {
  std::vector<listed_task> out;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (is_blank(line) || line.starts_with('#')) continue;
    auto task = from_line(line, name + ", line " + std::to_string(number));
    if (!task) return unexpected{std::move(task.error())};
    out.push_back(std::move(*task));
  }
  return out;
}

}  // namespace

expected<std::vector<listed_task>> parse_tasks(std::string_view text,
                                               const std::string& name) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  const auto first = text.find_first_not_of(blanks);
  const bool array = first != std::string_view::npos && text[first] == '[';
  auto out = array ? from_array(text, name) : from_lines(text, name);
  if (out && out->empty()) return mistake(name, "holds no task");
  return out;
}

}  // namespace riffle::cli
