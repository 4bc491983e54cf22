// SPDX-License-Identifier: MIT
#include "tools/command/command_result.hpp"

#include <algorithm>
#include <utility>

#include "tools/arguments.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

namespace {

using nlohmann::json;

constexpr std::size_t longest_envelope = 1u << 20;

bool is_envelope(const json& x) {
  const auto error = x.find("error");
  const auto metadata = x.find("metadata");
  if (error != x.end() && !error->is_string()) return false;
  if (metadata != x.end() && !metadata->is_object()) return false;
  const auto results = x.count("output") + x.count("error");
  return results > 0 && x.size() == results + x.count("metadata");
}

constexpr std::string_view blanks = " \t\r\n";

/// Takes it from the begin of the text, behind blanks.
bool take(std::string_view& text, std::string_view what) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

/// Where a JSON string ends whose begin was taken.
std::size_t end_of_string(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') return at;
    if (text[at] == '\\') ++at;
  }
  return std::string_view::npos;
}

/// The begin of a JSON string, as text.
std::string begin_of_string(std::string_view text) {
  constexpr std::size_t longest = 2048;
  constexpr std::size_t longest_pair = 12;  // \ud83d\ude00
  auto part = cut_utf8(text, longest);
  for (std::size_t tries = 0; tries <= longest_pair; ++tries) {
    const auto x = json::parse('"' + std::string{part} + '"', nullptr, false);
    if (x.is_string()) return x.get<std::string>();
    if (part.empty()) break;
    part = cut_utf8(part, part.size() - 1);  // it was cut within an escape
  }
  return "it says that it failed, in more text than is read";
}

}  // namespace

std::optional<std::string> failure_in_begin(std::string_view text) {
  const bool is_error = take(text, "{") && take(text, "\"error\"") &&
                        take(text, ":") && take(text, "\"");
  if (!is_error) return std::nullopt;
  const auto end = end_of_string(text);
  const auto said = text.substr(0, end);
  text.remove_prefix(std::min(end, text.size()));
  if (take(text, "\"")) {
    const bool goes_on = take(text, ",");
    const bool is_envelope =
        goes_on ? take(text, "\"output\"") || take(text, "\"metadata\"")
                : take(text, "}");
    if (!is_envelope) return std::nullopt;
  }
  return begin_of_string(said);
}

command_result read_result(std::string text) {
  const auto begin = text.find_first_not_of(blanks);
  const bool may_be = begin != std::string::npos && text[begin] == '{';
  if (!may_be) return {.text = std::move(text), .failure = {}};
  if (text.size() > longest_envelope) {
    auto failure = failure_in_begin(text);
    return {.text = std::move(text), .failure = std::move(failure)};
  }
  auto envelope = parse_object(text);
  if (!envelope || !is_envelope(*envelope))
    return {.text = std::move(text), .failure = {}};
  command_result result;
  if (const auto x = envelope->find("output"); x != envelope->end())
    result.text = x->is_string() ? x->get<std::string>() : x->dump();
  if (const auto x = envelope->find("error"); x != envelope->end())
    result.failure = x->get<std::string>();
  if (const auto x = envelope->find("metadata"); x != envelope->end())
    result.metadata = std::move(*x);
  return result;
}

}  // namespace riffle::tools
