// SPDX-License-Identifier: MIT
#include "tools/subject_text.hpp"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "runtime/base/text.hpp"

namespace riffle::tools {

namespace {

constexpr std::size_t longest_in_title = 120;
constexpr std::size_t short_text = 80;

/// The names of arguments that say most, best first.
constexpr std::array subject_keys = {"pattern", "path",  "file", "command",
                                     "url",     "query", "name", "id"};

}  // namespace

std::string subject_text(const nlohmann::json& arguments) {
  if (!arguments.is_object()) return {};
  for (const auto* key : subject_keys) {
    const auto found = arguments.find(key);
    if (found != arguments.end() && found->is_string())
      return found->get<std::string>();
  }
  return {};
}

std::string any_subject_text(const nlohmann::json& arguments) {
  if (auto known = subject_text(arguments); !known.empty()) return known;
  if (!arguments.is_object()) return {};
  std::string first;
  for (const auto& x : arguments) {
    if (!x.is_string()) continue;
    const auto& text = x.get_ref<const std::string&>();
    if (trimmed(text).empty()) continue;
    if (text.size() <= short_text) return text;
    if (first.empty()) first = text;
  }
  const bool one_number =
      arguments.size() == 1 && arguments.front().is_number();
  return one_number ? arguments.front().dump() : first;
}

std::string title_with_subject(std::string title,
                               const nlohmann::json& arguments) {
  const auto all = any_subject_text(arguments);
  const auto text = trimmed(all);
  if (text.empty()) return title;
  const auto line = text.substr(0, text.find_first_of("\r\n"));
  title += ": " + with_dots(line, longest_in_title);
  return line.size() < text.size() && !title.ends_with("…") ? title + " …"
                                                            : title;
}

}  // namespace riffle::tools
