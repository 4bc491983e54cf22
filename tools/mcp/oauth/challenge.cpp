// SPDX-License-Identifier: MIT
#include "tools/mcp/oauth/challenge.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include "runtime/base/text.hpp"

namespace riffle::mcp::oauth {

namespace {

constexpr std::size_t longest_value = 2048;
constexpr std::string_view blanks = " \t";

/// What stands between commas, those in quotation marks left alone.
std::vector<std::string_view> elements_of(std::string_view text) {
  std::vector<std::string_view> out;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && !quoted)) {
      out.push_back(trimmed(text.substr(begin, i - begin), blanks));
      begin = i + 1;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (quoted && text[i] == '\\' && i + 1 < text.size()) {
      ++i;
    }
  }
  return out;
}

std::string unquoted(std::string_view text) {
  if (!text.starts_with('"')) return std::string{text};
  std::string out;
  for (std::size_t i = 1; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out += text[i];
  }
  return out;
}

/// `stronger`: it takes the place of what another scheme has said.
void take_parameter(std::string_view text, bool stronger, challenge& out) {
  const auto sign = text.find('=');
  if (sign == text.npos) return;
  const auto name = lower(trimmed(text.substr(0, sign), blanks));
  auto value = unquoted(trimmed(text.substr(sign + 1), blanks));
  if (value.size() > longest_value) return;
  const auto take = [&](std::string& to) {
    if (stronger || to.empty()) to = std::move(value);
  };
  if (name == "resource_metadata") take(out.resource_metadata);
  if (name == "scope") take(out.scope);
  if (name == "error") take(out.error);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (end > 0) out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

challenge read_challenge(std::string_view header) {
  challenge out;
  bool bearer = false;
  bool bound = false;
  for (auto one : elements_of(header)) {
    // "Scheme", "Scheme name=value" or "name=value".
    const auto end = one.find_first_of(" \t=\"");
    const bool scheme = end == one.npos || one[end] == ' ' || one[end] == '\t';
    const auto rest =
        end == one.npos ? one.substr(one.size()) : trimmed(one.substr(end));
    if (scheme && !rest.starts_with('=')) {
      bearer = lower(one.substr(0, end)) == "bearer";
      bound = lower(one.substr(0, end)) == "dpop";
      one = rest;
    }
    out.bound = out.bound || bound;
    if (bearer || bound) take_parameter(one, bound, out);
  }
  return out;
}

std::string plain_scopes(std::string_view scope) {
  const bool plain = std::ranges::all_of(scope, [](char c) {
    constexpr std::string_view others = " ._:/-+*@";
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           others.find(c) != others.npos;
  });
  return plain && scope.size() <= longest_value ? std::string{scope}
                                                : std::string{};
}

std::string with_scopes(std::string_view scope, std::string_view more) {
  std::vector<std::string_view> all;
  for (const auto text : {scope, more})
    for (const auto word : words_of(text))
      if (std::ranges::find(all, word) == all.end()) all.push_back(word);
  std::string out;
  for (const auto word : all) out.append(out.empty() ? "" : " ").append(word);
  return out;
}

}  // namespace riffle::mcp::oauth
