// SPDX-License-Identifier: MIT
#include "tools/mcp/list_parts.hpp"

#include <string>
#include <utility>
#include <vector>

#include "messages/json_strict.hpp"
#include "tools/arguments.hpp"

namespace riffle::mcp {

namespace {

using nlohmann::json;

constexpr std::string_view json_blanks = " \t\r\n";

/// A member of an object, or an item of an array; as it is written.
struct written_part {
  std::string_view name;
  std::string_view value;
};

std::size_t behind_blanks(std::string_view text, std::size_t at) {
  const auto found = text.find_first_not_of(json_blanks, at);
  return found == text.npos ? text.size() : found;
}

/// Behind a text whose first '"' is at `at`; beyond the end: it has no last.
std::size_t behind_text(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return at + 1;
}

/// Behind the value that begins at `at`, of whatever depth.
std::size_t behind_value(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    const bool ends = c == '}' || c == ']';
    const bool blank = json_blanks.find(c) != json_blanks.npos;
    if (depth == 0 && (ends || c == ',' || blank)) return at;
    if (ends && --depth == 0) return at + 1;
    if (c == '{' || c == '[') ++depth;
    at = c == '"' ? behind_text(text, at) : at + 1;
    if (c == '"' && depth == 0) return at;
  }
  return at;
}

/// Of an object or array; nothing: it is none, as far as its commas say.
std::optional<std::vector<written_part>> parts_of(std::string_view text) {
  text = text.substr(behind_blanks(text, 0));
  const bool named = text.starts_with('{');
  if (!named && !text.starts_with('[')) return {};
  const char end = named ? '}' : ']';
  std::vector<written_part> out;
  std::size_t at = behind_blanks(text, 1);
  if (at < text.size() && text[at] == end) return out;
  while (at < text.size()) {
    written_part one;
    if (named) {
      const auto behind = behind_text(text, at);
      if (text[at] != '"' || behind > text.size()) return {};
      one.name = text.substr(at, behind - at);
      at = behind_blanks(text, behind);
      if (at == text.size() || text[at] != ':') return {};
      at = behind_blanks(text, at + 1);
    }
    const auto behind = behind_value(text, at);
    if (behind > text.size() || behind == at) return {};
    one.value = text.substr(at, behind - at);
    out.push_back(one);
    at = behind_blanks(text, behind);
    if (at == text.size()) return {};
    if (text[at] == end) return out;
    if (text[at] != ',') return {};
    at = behind_blanks(text, at + 1);
  }
  return {};
}

std::optional<json> read_part(std::string_view text) {
  auto out = parse_strict(text);
  if (!out || tools::repeated_key(text, *out)) return {};
  return out;
}

json stand_in(std::string_view item) {
  json out{{unreadable, true}};
  const auto members = parts_of(item);
  if (!members) return out;
  for (const auto& x : *members)
    if (x.name == "\"name\"")
      if (auto name = read_part(x.value); name && name->is_string())
        out["name"] = *std::move(name);
  return out;
}

json items_of(const std::vector<written_part>& all) {
  auto out = json::array();
  for (const auto& x : all) {
    auto item = read_part(x.value);
    out.push_back(item ? *std::move(item) : stand_in(x.value));
  }
  return out;
}

}  // namespace

std::optional<json> read_in_parts(std::string_view answer,
                                  std::string_view key) {
  const auto message = parts_of(answer);
  if (!message) return {};
  std::optional<std::vector<written_part>> result;
  for (const auto& x : *message) {
    if (x.name == "\"error\"" || (result && x.name == "\"result\"")) return {};
    if (x.name != "\"result\"") continue;
    result = parts_of(x.value);
    if (!result || !x.value.starts_with('{')) return {};
  }
  if (!result) return {};
  auto out = json::object();
  for (const auto& x : *result) {
    const auto name = read_part(x.name);
    if (!name || out.contains(name->get<std::string>())) return {};
    const auto& as = name->get_ref<const std::string&>();
    if (as == key) {
      const auto all = parts_of(x.value);
      if (!all || !x.value.starts_with('[')) return {};
      out[as] = items_of(*all);
    } else if (auto value = read_part(x.value)) {
      out[as] = *std::move(value);
    }
  }
  if (!out.contains(std::string{key})) return {};
  return out;
}

}  // namespace riffle::mcp
