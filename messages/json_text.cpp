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

/// A quick yes to JSON as most of it is: compact, ASCII, without escapes,
/// fractions and great depth. A no says nothing.
class plain_json {
 public:
  explicit plain_json(std::string_view text)
      : at_{text.data()}, end_{text.data() + text.size()} {}

  bool whole() { return value(0) && at_ == end_; }

 private:
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool value(int depth) {
    constexpr int deepest = 16;
    if (at_ == end_ || depth > deepest) return false;
    switch (*at_) {
      case '"': return string();
      case '{': return list(depth, '}');
      case '[': return list(depth, ']');
      case 't': return word("true");
      case 'f': return word("false");
      case 'n': return word("null");
      default: return number();
    }
  }
  bool list(int depth, char close) {
    ++at_;
    if (take(close)) return true;
    do {
      if (close == '}' && !(string() && take(':'))) return false;
      if (!value(depth + 1)) return false;
    } while (take(','));
    return take(close);
  }
  bool string() {
    if (!take('"')) return false;
    for (; at_ != end_; ++at_) {
      const auto c = static_cast<unsigned char>(*at_);
      if (c == '"') return take('"');
      if (c < 0x20 || c > 0x7e || c == '\\') return false;
    }
    return false;
  }
  bool word(std::string_view text) {
    if (!std::string_view{at_, end_}.starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  bool number() {
    constexpr std::ptrdiff_t most_digits = 17;
    take('-');
    const auto* const first = at_;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    const auto digits = at_ - first;
    return digits == 1 ||
           (digits > 1 && digits <= most_digits && *first != '0');
  }

  const char* at_;
  const char* end_;
};

}  // namespace

bool is_json(std::string_view text) {
  if (plain_json{text}.whole()) return true;
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
