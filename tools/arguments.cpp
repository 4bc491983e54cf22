// SPDX-License-Identifier: MIT
#include "tools/arguments.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "messages/json_strict.hpp"
#include "runtime/base/text.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

namespace {

using nlohmann::json;

/// Finds a key that stands twice in one object. (The parser's callback would
/// look through all of a parent at the end of each of its children.)
class duplicate_finder final : public nlohmann::json_sax<json> {
 public:
  bool start_object(std::size_t /*size*/) override {
    open_.emplace_back();
    return true;
  }
  bool key(std::string& x) override {
    open_.back().push_back(std::move(x));
    return true;
  }
  bool end_object() override {
    auto& keys = open_.back();
    std::ranges::sort(keys);
    const auto twice = std::ranges::adjacent_find(keys);
    if (twice != keys.end()) found_ = std::move(*twice);
    open_.pop_back();
    return !found_;
  }
  bool start_array(std::size_t /*size*/) override { return true; }
  bool end_array() override { return true; }
  bool null() override { return true; }
  bool boolean(bool /*x*/) override { return true; }
  bool number_integer(number_integer_t /*x*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*x*/) override { return true; }
  bool number_float(number_float_t /*x*/, const string_t& /*text*/) override {
    return true;
  }
  bool string(string_t& /*x*/) override { return true; }
  bool binary(binary_t& /*x*/) override { return true; }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*why*/) override {
    return false;
  }

  [[nodiscard]] const std::optional<std::string>& found() const noexcept {
    return found_;
  }

 private:
  std::vector<std::vector<std::string>> open_;
  std::optional<std::string> found_;
};

/// Of a text that is JSON: each stands behind a key, or in a text.
std::size_t colons_in(std::string_view text) {
  std::size_t out = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ':') ++out;
    if (text[i] != '"') continue;
    for (++i; i < text.size() && text[i] != '"'; ++i)
      if (text[i] == '\\') ++i;
  }
  return out;
}

std::size_t members_of(const json& x) {
  std::size_t out = x.is_object() ? x.size() : 0;
  if (x.is_structured())
    for (const auto& one : x) out += members_of(one);
  return out;
}

}  // namespace

tl::expected<json, std::string> parse_object(std::string_view text) {
  if (trimmed(text).empty()) return json::object();
  if (nests_deeper(text, max_json_depth))
    return tl::unexpected{"nested deeper than " +
                          std::to_string(max_json_depth) + " levels"};
  if (text.find('\0') != text.npos)  // the parser takes it for the end
    return tl::unexpected{std::string{"not valid JSON: holds a NUL byte"}};
  json value;
  try {
    value = json::parse(text);
  } catch (const json::exception& e) {
    return tl::unexpected{"not valid JSON: " + json_mistake(e.what())};
  }
  if (!value.is_object())
    return tl::unexpected{std::string{"must be one JSON object, but is "} +
                          value.type_name()};
  if (const auto key = repeated_key(text, value))
    return tl::unexpected{"the key " +
                          json(std::string{cut_utf8(*key, 60)}).dump() +
                          " stands twice in one object"};
  return value;
}

std::optional<std::string> repeated_key(std::string_view text,
                                        const json& parsed) {
  // Of two members with one key the parser kept one.
  if (colons_in(text) == members_of(parsed)) return {};
  duplicate_finder duplicates;
  static_cast<void>(json::sax_parse(text, &duplicates));
  return duplicates.found();
}

}  // namespace riffle::tools
