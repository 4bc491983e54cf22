// SPDX-License-Identifier: MIT
#include "runtime/model/scripted_document.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <sstream>
#include <system_error>

#include <toml++/toml.h>

#include "messages/json_strict.hpp"
#include "runtime/base/toml_bounds.hpp"
#include "runtime/model/scripted_reference.hpp"

namespace riffle::model {

namespace {

using nlohmann::json;

/// Scripts hold what models say, which may be long.
constexpr toml_limits script_limits{
    .bytes = largest_script, .depth = 128, .items = most_script_items};

/// Members of objects and items of arrays, an empty one counted as if it held
/// one; the text need not be JSON.
bool holds_more_items(std::string_view text, std::size_t limit) {
  std::size_t items = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\') ++i;
    if (!quoted && (c == '[' || c == '{' || c == ',') && ++items > limit)
      return true;
  }
  return false;
}

std::string to_place(const toml::source_region& x) {
  return std::to_string(x.begin.line) + ":" + std::to_string(x.begin.column);
}

/// `pointer`: of the node; as it was when this returns.
json convert(const toml::node& node, std::string& pointer,
             script_document& out) {
  const auto inner = [&](const toml::node& value, std::string_view name) {
    const auto size = pointer.size();
    pointer.append("/").append(name);
    auto result = convert(value, pointer, out);
    pointer.resize(size);
    return result;
  };
  if (const auto* table = node.as_table()) {
    auto object = json::object();
    for (const auto& [key, value] : *table)
      object.emplace(key.str(), inner(value, key.str()));
    return object;
  }
  if (const auto* array = node.as_array()) {
    auto list = json::array();
    for (const auto& value : *array)
      list.push_back(inner(value, std::to_string(list.size())));
    return list;
  }
  if (const auto* x = node.as_string()) return x->get();
  if (const auto* x = node.as_integer()) return x->get();
  if (const auto* x = node.as_floating_point()) return x->get();
  if (const auto* x = node.as_boolean()) return x->get();
  out.complain(pointer, "dates and times have no place in a script");
  return nullptr;
}

/// A name may hold a slash: the longest that there is.
const toml::node* find_node(const toml::node& from, std::string_view pointer) {
  if (pointer.empty()) return &from;
  pointer.remove_prefix(1);
  for (auto end = pointer.size(); end != pointer.npos;
       end = end == 0 ? pointer.npos : pointer.rfind('/', end - 1)) {
    const auto name = pointer.substr(0, end);
    const toml::node* next = nullptr;
    if (const auto* table = from.as_table()) {
      next = table->get(name);
    } else if (const auto* array = from.as_array()) {
      std::size_t at = 0;
      const auto* const last = name.data() + name.size();
      if (std::from_chars(name.data(), last, at).ptr == last)
        next = array->get(at);
    }
    if (next == nullptr) continue;
    if (const auto* found = find_node(*next, pointer.substr(end))) return found;
  }
  return nullptr;
}

unexpected invalid(std::string message) {
  return unexpected{
      {errc::invalid_config, "script", std::move(message), false, {}}};
}

unexpected invalid(const std::string& name, const toml_excess& x) {
  return invalid(name +
                 (x.line > 0 ? ":" + std::to_string(x.line) + ":" +
                                   std::to_string(x.column)
                             : "") +
                 ": " + x.message);
}

expected<void> parse_toml_document(std::string_view text,
                                   script_document& out) {
  const auto look = look_at_toml(text, script_limits);
  if (look.excess) return invalid(out.name, *look.excess);
  try {
    const auto read = std::make_shared<const toml::table>(
        toml::parse(text.substr(0, look.understood)));
    out.place_of = [read](std::string_view pointer) {
      const auto* node = find_node(*read, pointer);
      return node == nullptr ? std::string{} : to_place(node->source());
    };
    std::string pointer;
    out.root = convert(*read, pointer, out);
  } catch (const toml::parse_error& e) {
    return invalid(out.name + ":" + to_place(e.source()) + ": " +
                   std::string{e.description()});
  }
  if (look.understood == text.size()) return {};
  return invalid(out.name,
                 toml_place(text, look.understood - 1, "is not TOML"));
}

// Whole milliseconds as a number, or "20ms", "1.5s", "2m".
std::optional<duration> parse_length(const json& x) {
  using namespace std::chrono;
  constexpr auto largest = static_cast<double>(hours{24 * 365} / 1ms);
  double value = 0;
  double unit = 1;
  if (x.is_number()) {
    value = x.get<double>();
  } else if (x.is_string()) {
    const auto& text = x.get_ref<const std::string&>();
    const auto* const last = text.data() + text.size();
    const auto [p, failure] = std::from_chars(text.data(), last, value);
    if (failure != std::errc{}) return std::nullopt;
    const std::string_view name{p, static_cast<std::size_t>(last - p)};
    unit = name == "us"   ? 0.001
           : name == "ms" ? 1
           : name == "s"  ? 1000
           : name == "m"  ? 60000
                          : -1;
  } else {
    return std::nullopt;
  }
  const auto ms = value * unit;
  if (unit < 0 || !(ms >= 0) || ms > largest) return std::nullopt;
  return duration_cast<duration>(std::chrono::duration<double, std::milli>{ms});
}

}  // namespace

void script_document::complain(const std::string& pointer,
                               std::string_view what) {
  auto line = name;
  if (const auto place = place_of ? place_of(pointer) : std::string{};
      !place.empty())
    line += ":" + place;
  line += ": " + (pointer.empty() ? "" : pointer.substr(1) + ": ");
  problems.push_back(line.append(what));
}

expected<script_document> parse_document(std::string_view text,
                                         script_format format,
                                         const std::string& name) {
  script_document out;
  out.name = name;
  if (text.size() > largest_script)
    return invalid(name + ": is larger than 64 MiB");
  if (format == script_format::json) {
    // For its parser a NUL byte is the end of the text.
    if (text.find('\0') != text.npos || nests_deeper(text, deepest_json))
      return invalid(name +
                     ": no JSON: holds a NUL byte, or nests deeper than " +
                     std::to_string(deepest_json) + " levels");
    if (holds_more_items(text, most_script_items))
      return invalid(name + ": holds more than " +
                     std::to_string(most_script_items) +
                     " keys and items: split it");
    try {
      out.root = json::parse(text);
    } catch (const json::exception& e) {  // also for numbers that do not fit
      return invalid(name + ": " + json_mistake(e.what()));
    }
  } else {
    if (auto read = parse_toml_document(text, out); !read)
      return unexpected{std::move(read.error())};
  }
  if (!out.root.is_object()) return invalid(name + ": not an object");
  return out;
}

script_reader::script_reader(script_document& document, const json& object,
                             std::string pointer)
    : document_{document}, object_{object}, pointer_{std::move(pointer)} {
  if (!object.is_object()) document_.complain(pointer_, "is not a table");
}

script_reader::~script_reader() {
  if (!object_.is_object()) return;
  for (const auto& [key, value] : object_.items()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    std::string allowed;
    for (const auto& x : known_) allowed += (allowed.empty() ? "" : ", ") + x;
    document_.complain(pointer_ + "/" + key,
                       "unknown key; allowed are: " + allowed);
  }
}

bool script_reader::has(const char* key) { return !any(key).is_null(); }

const json& script_reader::any(const char* key) {
  static const json nothing;
  if (std::find(known_.begin(), known_.end(), key) == known_.end())
    known_.emplace_back(key);
  if (!object_.is_object()) return nothing;
  const auto i = object_.find(key);
  return i != object_.end() ? *i : nothing;
}

std::string script_reader::pointer(const char* key) const {
  return pointer_ + "/" + key;
}

void script_reader::complain(const char* key, std::string_view what) {
  document_.complain(pointer(key), what);
}

void script_reader::text(const char* key, std::string& to) {
  const auto& x = any(key);
  if (x.is_null()) return;
  if (!x.is_string()) return complain(key, "is not a text");
  to = x.get<std::string>();
}

void script_reader::template_text(const char* key, std::string& to) {
  text(key, to);
  if (const auto wrong = check_references(to)) complain(key, *wrong);
}

void script_reader::flag(const char* key, bool& to) {
  const auto& x = any(key);
  if (x.is_null()) return;
  if (!x.is_boolean()) return complain(key, "is not true or false");
  to = x.get<bool>();
}

std::optional<std::uint64_t> script_reader::whole_number(const char* key) {
  const auto& x = any(key);
  if (x.is_null()) return std::nullopt;
  const bool good = x.is_number_integer() && x >= 0 && x <= INT32_MAX;
  if (good) return x.get<std::uint64_t>();
  complain(key, "is not a whole number from 0");
  return std::nullopt;
}

void script_reader::length(const char* key, duration& to) {
  const auto& x = any(key);
  if (x.is_null()) return;
  if (const auto value = parse_length(x))
    to = *value;
  else
    complain(key, "is not a length of time such as \"20ms\" or \"1.5s\"");
}

std::optional<std::size_t> script_reader::choice(
    const char* key, const std::vector<std::string>& words) {
  std::string word;
  text(key, word);
  if (!any(key).is_string()) return std::nullopt;
  const auto i = std::find(words.begin(), words.end(), word);
  if (i != words.end()) return static_cast<std::size_t>(i - words.begin());
  std::string allowed;
  for (const auto& x : words) allowed += (allowed.empty() ? "" : ", ") + x;
  complain(key, "is not one of: " + allowed);
  return std::nullopt;
}

void script_reader::tables(const char* key, const each& f) {
  const auto& list = any(key);
  if (list.is_null()) return;
  if (!list.is_array()) return complain(key, "is not a list of tables");
  for (std::size_t i = 0; i < list.size(); ++i)
    f(list[i], pointer(key) + "/" + std::to_string(i));
}

}  // namespace riffle::model
