// SPDX-License-Identifier: MIT
#include "tools/key_pointers.hpp"

#include <utility>

namespace riffle::tools {

std::optional<std::string> plain_text(const nlohmann::json& x) {
  if (x.is_string()) return x.get<std::string>();
  if (x.is_null() || x.is_structured()) return std::nullopt;
  return x.dump();
}

std::vector<std::string> texts_at(const std::vector<std::string>& pointers,
                                  const nlohmann::json& arguments) {
  using json = nlohmann::json;
  std::vector<std::string> result;
  const auto add = [&](const json& x) {
    if (auto text = plain_text(x)) result.push_back(std::move(*text));
  };
  for (const auto& key : pointers) {
    const json::json_pointer pointer{key};
    if (!arguments.contains(pointer)) continue;
    const auto& found = arguments.at(pointer);
    if (!found.is_array()) add(found);
    for (const auto& item : found.is_array() ? found : json::array()) add(item);
  }
  return result;
}

}  // namespace riffle::tools
