// SPDX-License-Identifier: MIT
#include "tools/arguments.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "messages/json_strict.hpp"
#include "runtime/base/text.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

namespace {

using nlohmann::json;

/// Finds the first key that stands twice in one object.
class duplicate_finder {
 public:
  bool operator()(int /*depth*/, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) {
      open_.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      open_.pop_back();
    } else if (event == json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!open_.back().insert(key).second && !found_) found_ = key;
    }
    return true;
  }

  [[nodiscard]] const std::optional<std::string>& found() const noexcept {
    return found_;
  }

 private:
  std::vector<std::set<std::string>> open_;
  std::optional<std::string> found_;
};

}  // namespace

tl::expected<json, std::string> parse_object(std::string_view text) {
  if (trimmed(text).empty()) return json::object();
  if (nests_deeper(text, max_json_depth))
    return tl::unexpected{"nested deeper than " +
                          std::to_string(max_json_depth) + " levels"};
  if (text.find('\0') != text.npos)  // the parser takes it for the end
    return tl::unexpected{std::string{"not valid JSON: holds a NUL byte"}};
  duplicate_finder duplicates;
  json value;
  try {
    value = json::parse(text, std::ref(duplicates));
  } catch (const json::exception& e) {
    return tl::unexpected{"not valid JSON: " + json_mistake(e.what())};
  }
  if (!value.is_object())
    return tl::unexpected{std::string{"must be one JSON object, but is "} +
                          value.type_name()};
  if (duplicates.found())
    return tl::unexpected{
        "the key " +
        json(std::string{cut_utf8(*duplicates.found(), 60)}).dump() +
        " stands twice in one object"};
  return value;
}

}  // namespace riffle::tools
