// SPDX-License-Identifier: MIT
#include "runtime/model/wire_text.hpp"

#include <algorithm>

#include "messages/event_line.hpp"
#include "messages/json_text.hpp"
#include "runtime/base/digest.hpp"
#include "runtime/base/media.hpp"
#include "runtime/base/text.hpp"

namespace riffle::model::wire {

namespace {

bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

}  // namespace

void append_string(std::string& out, std::string_view text) {
  out.push_back('"');
  append_json_escaped(out, text);
  out.push_back('"');
}

void append_member(std::string& out, std::string_view key,
                   std::string_view text) {
  append_string(out, key);
  out.push_back(':');
  append_string(out, text);
}

void append_base64_text(std::string& out, const told_file& x) {
  out.push_back('"');
  append_base64(out, *x.bytes);
  out.push_back('"');
}

void append_data_url(std::string& out, std::string_view key,
                     const told_file& x) {
  append_string(out, key);
  out.append(":\"data:").append(x.about.type).append(";base64,");
  append_base64(out, *x.bytes);
  out.push_back('"');
}

void append_base64_member(std::string& out, std::string_view key,
                          const told_file& x) {
  append_string(out, key);
  out.push_back(':');
  append_base64_text(out, x);
}

void append_json(std::string& out, std::string_view key,
                 const ordered_json& value) {
  out.push_back(',');
  append_string(out, key);
  out.append(":").append(text_of(value));
}

std::uint64_t weight_of(const ordered_json& x) {
  std::uint64_t sum = sizeof x;
  if (x.is_string())
    return sum + sizeof(std::string) +
           x.get_ref<const std::string&>().capacity();
  if (x.is_object())
    for (const auto& [key, value] : x.items())
      sum += sizeof key + key.size() + weight_of(value);
  if (x.is_array())
    for (const auto& value : x) sum += weight_of(value);
  return sum;
}

ordered_json* member_to_keep(ordered_json& object, const std::string& key,
                             std::uint64_t& weight) {
  constexpr std::size_t most = 256;
  if (const auto known = object.find(key); known != object.end())
    return &*known;
  if (object.size() >= most) return nullptr;
  weight += sizeof key + key.size();
  return &object[key];
}

std::string text_of(const ordered_json& x) {
  return x.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string sendable_arguments(std::string_view arguments) {
  if (trimmed(arguments).empty()) return "{}";
  if (is_json_object(arguments)) return std::string{arguments};
  std::string out = "{";
  append_member(out, "invalid_arguments", arguments);
  out.push_back('}');
  return out;
}

std::string_view parameters_or_none(const std::string& schema) {
  if (!schema.empty()) return schema;
  return R"({"type":"object","properties":{}})";
}

std::string nine_characters(std::string_view id) {
  constexpr std::size_t length = 9;
  if (id.size() == length && std::ranges::all_of(id, is_alnum))
    return std::string{id};
  return sha256(id).substr(0, length);
}

std::string plain_id(std::string_view id) {
  const auto plain = [](char c) { return is_alnum(c) || c == '_' || c == '-'; };
  if (!id.empty() && id.size() <= 64 && std::ranges::all_of(id, plain))
    return std::string{id};
  return "call_" + sha256(id).substr(0, 32);
}

void merge(ordered_json& body, const std::string& extra) {
  if (!extra.empty()) body.update(ordered_json::parse(extra), true);
}

}  // namespace riffle::model::wire
