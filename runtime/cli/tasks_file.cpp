// SPDX-License-Identifier: MIT
#include "runtime/cli/tasks_file.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"
#include "runtime/service/requests.hpp"

namespace riffle::cli {

namespace {

constexpr std::string_view blanks = " \t\r\n";

unexpected mistake(const std::string& place, const std::string& what) {
  return unexpected{error{errc::invalid_request, "run", place + ": " + what}};
}

/// Tasks as they stand in a file; all that is wrong with it is told at once.
class collected_tasks {
 public:
  void add(expected<listed_task> x) {
    if (x)
      tasks_.push_back(std::move(*x));
    else if (++wrong_ <= most_told)
      text_ += (text_.empty() ? "" : "\n") + x.error().message;
  }

  [[nodiscard]] expected<std::vector<listed_task>> all() && {
    if (wrong_ == 0) return std::move(tasks_);
    if (wrong_ > most_told)
      text_ += "\n… and " + std::to_string(wrong_ - most_told) + " more";
    return unexpected{error{errc::invalid_request, "run", std::move(text_)}};
  }

 private:
  static constexpr std::size_t most_told = 20;
  std::vector<listed_task> tasks_;
  std::string text_;
  std::size_t wrong_ = 0;
};

/// Where an array that is none breaks off.
std::string broken_place(std::string_view text, const std::string& name) {
  try {
    [[maybe_unused]] const auto whole = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    const auto before = text.substr(0, e.byte > 0 ? e.byte - 1 : 0);
    return name + ", line " +
           std::to_string(1 + std::ranges::count(before, '\n'));
  }
  return name;
}

expected<listed_task> checked(listed_task x, const std::string& place) {
  if (trimmed(x.task).empty()) return mistake(place, "the task is empty");
  return x;
}

expected<void> take_files(const nlohmann::json& x, const std::string& place,
                          listed_task& out) {
  const auto wrong =
      mistake(place, "\"attachments\" has to be a list of files");
  if (!x.is_array()) return wrong;
  for (const auto& one : x) {
    if (!one.is_string() || trimmed(one.get_ref<const std::string&>()).empty())
      return wrong;
    out.attachments.push_back(one.get<std::string>());
  }
  return {};
}

expected<listed_task> from_json(const nlohmann::json& x,
                                const std::string& place) {
  if (x.is_string()) return checked({x.get<std::string>()}, place);
  if (!x.is_object())
    return mistake(place, "a task is a text, or an object with \"task\"");
  listed_task out;
  const std::map<std::string, std::optional<std::string>*> others{
      {"agent", &out.agent},
      {"model", &out.model},
      {"context", &out.context},
      {"session", &out.session}};
  for (const auto& [key, value] : x.items()) {
    if (key == "attachments") {
      if (auto ok = take_files(value, place, out); !ok)
        return unexpected{std::move(ok.error())};
      continue;
    }
    const auto other = others.find(key);
    if (key != "task" && other == others.end())
      return mistake(place, "there is no key \"" + key +
                                "\": task, agent, model, context, session, "
                                "attachments");
    if (!value.is_string())
      return mistake(place, "\"" + key + "\" has to be a text");
    if (key == "task") {
      out.task = value.get<std::string>();
      continue;
    }
    *other->second = value.get<std::string>();
    if (trimmed(**other->second).empty())
      return mistake(place, "\"" + key + "\" is empty");
  }
  if (!x.contains("task")) return mistake(place, "\"task\" is missing");
  return checked(std::move(out), place);
}

expected<std::vector<listed_task>> from_array(std::string_view text,
                                              const std::string& name) {
  const auto all = nlohmann::json::parse(text, nullptr, false);
  if (!all.is_array())
    return mistake(broken_place(text, name),
                   "the text begins with '[' and is no JSON array: it breaks "
                   "off here");
  collected_tasks out;
  std::size_t number = 0;
  for (const auto& x : all)
    out.add(from_json(x, name + ", element " + std::to_string(++number)));
  return std::move(out).all();
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
  collected_tasks out;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (trimmed(line).empty() || line.starts_with('#')) continue;
    out.add(from_line(line, name + ", line " + std::to_string(number)));
  }
  return std::move(out).all();
}

/// The line, from 1, of the first byte that no text has.
std::optional<std::size_t> find_no_text(std::string_view text) {
  std::size_t line = 1;
  while (!text.empty()) {
    const auto next = first_character(text);
    if (!next.valid || text.front() == '\0') return line;
    if (text.front() == '\n') ++line;
    text.remove_prefix(next.size);
  }
  return std::nullopt;
}

}  // namespace

expected<std::vector<listed_task>> parse_tasks(std::string_view text,
                                               const std::string& name) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  if (const auto bad = find_no_text(text))
    return mistake(name + ", line " + std::to_string(*bad),
                   "is no text: a byte that is no UTF-8, or a NUL");
  const auto first = text.find_first_not_of(blanks);
  const bool array = first != std::string_view::npos && text[first] == '[';
  auto out = array ? from_array(text, name) : from_lines(text, name);
  if (out && out->size() > most_volley_tasks)
    return mistake(name, "holds " + std::to_string(out->size()) +
                             " tasks; at most " +
                             std::to_string(most_volley_tasks) +
                             " are run at once: split the file");
  if (out && out->empty()) return mistake(name, "holds no task");
  return out;
}

}  // namespace riffle::cli
