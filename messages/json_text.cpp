// SPDX-License-Identifier: MIT
#include "messages/json_text.hpp"

#include <cstddef>

#include <nlohmann/json.hpp>

namespace riffle {

namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

// `at` is at the opening quote; gives the place after the closing one.
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

std::size_t skip_value(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}' || c == ']')) break;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
  }
  return at;
}

std::string_view trim(std::string_view text) {
  text.remove_prefix(skip_space(text, 0));
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

bool is_json(std::string_view text) {
  // The parser takes a NUL byte for the end of the text.
  return text.find('\0') == text.npos &&
         nlohmann::json::accept(text.begin(), text.end());
}

bool is_json_object(std::string_view text) {
  const auto at = skip_space(text, 0);
  return at < text.size() && text[at] == '{' && is_json(text);
}

void append_compact(std::string& out, std::string_view json) {
  for (std::size_t at = 0; at < json.size();) {
    if (is_space(json[at])) {
      ++at;
      continue;
    }
    const auto end = json[at] == '"' ? skip_string(json, at) : at + 1;
    out.append(json.substr(at, end - at));
    at = end;
  }
}

std::string_view raw_member(std::string_view object, std::string_view key) {
  std::string_view found;
  auto at = skip_space(object, 0) + 1;
  for (;;) {
    at = skip_space(object, at);
    if (at >= object.size() || object[at] != '"') return found;
    const auto name_end = skip_string(object, at);
    const auto name = object.substr(at + 1, name_end - at - 2);
    const auto value = skip_space(object, name_end) + 1;
    const auto end = skip_value(object, value);
    if (value > end) return found;
    if (name == key) found = trim(object.substr(value, end - value));
    at = end + 1;
  }
}

}  // namespace riffle
