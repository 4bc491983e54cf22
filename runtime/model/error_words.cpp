// SPDX-License-Identifier: MIT
#include "runtime/model/error_words.hpp"

#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "messages/json_strict.hpp"

namespace riffle::model {

namespace {

using json = nlohmann::ordered_json;

std::string text_at(const json& x, const char* key) {
  const auto i = x.find(key);
  return i != x.end() && i->is_string() ? i->get<std::string>() : std::string{};
}

/// The object that says what is wrong, in a body of any known shape.
const json& inner(const json& body) {
  if (body.is_array() && !body.empty()) return inner(body.front());
  if (!body.is_object() || !body.contains("error")) return body;
  const auto& error = body["error"];
  return error.is_object() || error.is_string() ? error : body;
}

std::string words_of(const json& body) {
  const auto& error = inner(body);
  if (error.is_string()) return error.get<std::string>();
  if (!error.is_object()) return {};
  std::string message;
  for (const auto* key : {"message", "detail", "title"})
    if (message.empty()) message = text_at(error, key);
  auto subject = subject_of(error, message);
  if (message.empty() && !subject.empty()) subject.erase(0, 1);
  return message + subject;
}

/// It may be cut.
std::string raw_words(const json& error) {
  const auto about = error.find("metadata");
  if (about == error.end() || !about->is_object()) return {};
  const auto raw = about->find("raw");
  if (raw == about->end()) return {};
  if (!raw->is_string()) return words_of(*raw);
  const auto& text = raw->get_ref<const std::string&>();
  if (const auto parsed = parse_strict(text)) {
    auto words = words_of(json(*parsed));
    if (!words.empty()) return words;
  }
  return text;
}

}  // namespace

std::string words_behind(const json& error, const std::string& message) {
  if (!error.is_object()) return {};
  const auto words = raw_words(error);
  if (words.empty() || message.find(words) != message.npos) return {};
  return (message.empty() ? "" : ": ") + words;
}

std::string subject_of(const json& error, const std::string& message) {
  std::string out;
  if (!error.is_object()) return out;
  for (const auto* key : {"param", "code"}) {
    const auto text = text_at(error, key);
    if (text.empty() || message.find(text) != message.npos) continue;
    if (std::string_view{key} == "code" && text.find('_') == text.npos)
      continue;
    out += (out.empty() ? " (" : ", ") + text;
  }
  return out.empty() ? out : out + ")";
}

}  // namespace riffle::model
