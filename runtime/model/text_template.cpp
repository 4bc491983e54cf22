// SPDX-License-Identifier: MIT
#include "runtime/model/text_template.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/model/openai_template.hpp"
#include "runtime/model/openai_walk.hpp"

namespace riffle::model {

namespace {

constexpr std::uint32_t max_misses = 16;
constexpr std::size_t max_size = 4096;

/// Members of an event whose values no decoder reads.
constexpr std::array<std::string_view, 4> unread{
    "sequence_number", "obfuscation", "item_id", "created_at"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_plain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

/// How many characters there are before the first that is none of these.
std::size_t count_first(std::string_view text, bool (*is)(char)) {
  std::size_t size = 0;
  while (size < text.size() && is(text[size])) ++size;
  return size;
}

/// Without the zeros that JSON does not have.
bool pass_number(std::string_view& json) {
  const auto size = count_first(json, is_digit);
  if (size == 0 || (size > 1 && json[0] == '0')) return false;
  json.remove_prefix(size);
  return true;
}

bool pass_plain(std::string_view& json) {
  json.remove_prefix(count_first(json, is_plain));
  return true;
}

/// Up to the quotation mark that ends the string.
bool pass_text(std::string_view& json, std::string& text) {
  std::size_t end = 0;
  for (;; ++end) {
    end = json.find_first_of("\"\\", end);
    if (end == std::string_view::npos) return false;
    if (json[end] == '"') break;
    ++end;  // and what is escaped
  }
  const auto inside = json.substr(0, end);
  json.remove_prefix(end);
  return openai::append_unescaped(inside, text);
}

}  // namespace

/// Where the holes of an event are.
class text_template::finder {
 public:
  finder(const char* begin, std::span<const std::string_view> path)
      : begin_{begin}, path_{path} {}

  /// False: it is no JSON, or not plain enough.
  bool root(openai::od::document& document) {
    openai::od::value value;
    return !document.get_value().get(value) && object(value, 0) && found_;
  }

  std::vector<place> places;

 private:
  bool object(openai::od::value& x, std::size_t level) {
    bool seen = false;
    return openai::each_member(x, [&](auto key, auto& value) {
      if (is_named(key, path_[level]))
        return !std::exchange(seen, true) && on_path(value, level);
      const bool ignored =
          level == 0 && std::ranges::any_of(unread, [&](auto name) {
            return is_named(key, name);
          });
      return ignored ? on_unread(value) : openai::is_good(value);
    });
  }

  bool on_path(openai::od::value& value, std::size_t level) {
    if (level + 1 < path_.size()) return object(value, level + 1);
    found_ = true;
    return add(value, hole::text);
  }

  bool on_unread(openai::od::value& value) {
    openai::json_type type{};
    if (value.type().get(type)) return false;
    if (type == openai::json_type::string) return add(value, hole::plain);
    if (type == openai::json_type::number) return add(value, hole::number);
    return openai::is_good(value);
  }

  bool add(openai::od::value& value, hole what) {
    auto token = value.raw_json_token();
    auto begin = static_cast<std::size_t>(token.data() - begin_);
    if (what == hole::number) {
      while (!token.empty() && !is_digit(token.back())) token.remove_suffix(1);
      places.push_back({begin, begin + token.size(), what});
      return !value.get_uint64().error();
    }
    const auto end = token.rfind('"');
    if (end == std::string_view::npos || end == 0) return false;
    places.push_back({begin + 1, begin + end, what});
    return !value.get_string().error();
  }

  template <class Key>
  static bool is_named(const Key& key, std::string_view name) {
    return std::string_view{key.raw(), name.size()} == name &&
           key.raw()[name.size()] == '"';
  }

  const char* begin_;
  std::span<const std::string_view> path_;
  bool found_ = false;
};

bool text_template::pass(hole what, std::string_view& json, std::string& text) {
  switch (what) {
    case hole::text: return pass_text(json, text);
    case hole::number: return pass_number(json);
    case hole::plain: return pass_plain(json);
    case hole::none: break;
  }
  return json.empty();
}

bool text_template::read(std::string_view json, std::string& text) {
  if (parts_.empty()) return false;
  text.clear();
  for (const auto& x : parts_) {
    if (!json.starts_with(x.before)) return false;
    json.remove_prefix(x.before.size());
    if (!pass(x.what, json, text)) return false;
  }
  misses_ = 0;
  return true;
}

void text_template::learn(std::string_view json,
                          std::span<const std::string_view> path) {
  parts_.clear();  // what was learned before is about another kind of event
  if (misses_ >= max_misses || json.size() > max_size) return;
  ++misses_;
  openai::od::parser parser;
  const simdjson::padded_string padded{json};
  openai::od::document document;
  finder holes{padded.data(), path};
  if (parser.iterate(padded).get(document) || !holes.root(document)) return;
  std::ranges::sort(holes.places, {}, &place::begin);
  std::size_t from = 0;
  for (const auto& x : holes.places) {
    parts_.push_back({std::string{json.substr(from, x.begin - from)}, x.what});
    from = x.end;
  }
  parts_.push_back({std::string{json.substr(from)}, hole::none});
}

}  // namespace riffle::model
