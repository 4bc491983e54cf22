// SPDX-License-Identifier: MIT
#include "tools/builtin/web/url.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>
#include <vector>

#include <curl/curl.h>

namespace riffle::tools {

namespace {

constexpr std::size_t longest_url = 8192;
constexpr std::size_t longest_link = 2048;

struct url_deleter {
  void operator()(CURLU* x) const noexcept { curl_url_cleanup(x); }
};
using url_handle = std::unique_ptr<CURLU, url_deleter>;

std::string part(CURLU* url, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  const bool good = curl_url_get(url, which, &text, flags) == CURLUE_OK;
  // 7.88 gives the host's text where it cannot be converted, too.
  constexpr unsigned first_8 = 0x080000;
  const bool ours =
      good || curl_version_info(CURLVERSION_NOW)->version_num < first_8;
  const std::unique_ptr<char, void (*)(void*)> owner{ours ? text : nullptr,
                                                     curl_free};
  return good ? text : std::string{};
}

bool is_blank(char c) { return static_cast<unsigned char>(c) <= ' '; }

/// As browsers do: no blanks around, no line ends and tabs inside.
std::string cleaned(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  std::string out;
  for (const char c : text)
    if (c != '\t' && c != '\n' && c != '\r') out += c;
  return out;
}

std::string host_of(CURLU* url) {
  auto host = part(url, CURLUPART_HOST);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  return plain_host(host);
}

bool is_plain(unsigned char c) {
  return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || c == '~';
}

/// %41 becomes A, %2f becomes %2F; what may be written in either way is not.
std::string plain_escapes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const auto* digits = text.data() + i + 1;
    const bool escape =
        text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2;
    if (!escape) {
      out += text[i];
      continue;
    }
    i += 2;
    if (is_plain(static_cast<unsigned char>(value))) {
      out += static_cast<char>(value);
    } else {
      constexpr std::string_view hex = "0123456789ABCDEF";
      out.append({'%', hex[value / 16], hex[value % 16]});
    }
  }
  return out;
}

/// Without empty parts, "." and ".."; servers take them for the same.
std::string one_path(std::string_view path) {
  std::vector<std::string_view> parts;
  bool folder = true;
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    const auto name = path.substr(0, end);
    folder = end < path.size() || name.empty() || name == "." || name == "..";
    path.remove_prefix(std::min(end + 1, path.size()));
    if (name == ".." && !parts.empty()) parts.pop_back();
    if (!name.empty() && name != "." && name != "..") parts.push_back(name);
  }
  std::string out;
  for (const auto name : parts) out.append("/").append(name);
  if (folder || out.empty()) out += '/';
  return out;
}

/// As it is looked up: ASCII, addresses in their one form.
std::optional<std::string> one_host(CURLU* url, const std::string& plain) {
  if (const auto address = parse_ip(plain)) {
    const auto text = to_text(*address);
    return text.find(':') == std::string::npos ? text : "[" + text + "]";
  }
  if (plain.find_first_of(":%") != std::string::npos) return std::nullopt;
  const bool ascii = std::ranges::all_of(
      plain, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  auto host = ascii ? plain : part(url, CURLUPART_HOST, CURLU_PUNYCODE);
  if (host.empty()) return std::nullopt;
  return plain_host(host);
}

}  // namespace

tl::expected<web_url, std::string> parse_url(std::string_view text) {
  using wrong = tl::unexpected<std::string>;
  const auto input = cleaned(text);
  if (input.size() > longest_url)
    return wrong{"the URL is longer than " + std::to_string(longest_url) +
                 " bytes"};
  if (input.find('\0') != std::string_view::npos)
    return wrong{"the URL holds a NUL byte"};
  const url_handle url{curl_url()};
  if (!url) return wrong{"no memory for the URL"};
  const auto code = curl_url_set(url.get(), CURLUPART_URL, input.c_str(),
                                 CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE);
  if (code == CURLUE_BAD_SCHEME)
    return wrong{"the URL must begin with http:// or https://"};
  if (code != CURLUE_OK)
    return wrong{std::string{"this is no URL: "} + curl_url_strerror(code) +
                 "; write it like https://example.org/page"};
  const auto scheme = part(url.get(), CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https")
    return wrong{"only http:// and https:// can be fetched, not " + scheme +
                 ":"};
  if (!part(url.get(), CURLUPART_USER).empty() ||
      !part(url.get(), CURLUPART_PASSWORD).empty())
    return wrong{
        "a user name or password in the URL is not allowed; what stands "
        "before '@' is no host"};
  web_url out;
  out.host = host_of(url.get());
  if (out.host.empty()) return wrong{"the URL has no host"};
  const auto port = part(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  std::from_chars(port.data(), port.data() + port.size(), out.port);
  curl_url_set(url.get(), CURLUPART_FRAGMENT, nullptr, 0);
  out.text = part(url.get(), CURLUPART_URL);
  return out;
}

std::optional<std::string> url_spelling(std::string_view text) {
  const auto parsed = parse_url(text);
  if (!parsed) return std::nullopt;
  const url_handle url{curl_url()};
  if (!url || curl_url_set(url.get(), CURLUPART_URL, parsed->text.c_str(), 0) !=
                  CURLUE_OK)
    return std::nullopt;
  const auto host = one_host(url.get(), parsed->host);
  if (!host) return std::nullopt;
  auto out = part(url.get(), CURLUPART_SCHEME) + "://" + *host;
  // Also what the URL does not say: the same port is the same place.
  const auto port = part(url.get(), CURLUPART_PORT, CURLU_NO_DEFAULT_PORT);
  if (!port.empty()) out += ":" + std::to_string(parsed->port);
  const auto path = plain_escapes(part(url.get(), CURLUPART_PATH));
  // Some servers take these for a slash, or for the end of a name.
  if (path.find_first_of("\\;") != path.npos || path.find("%2F") != path.npos ||
      path.find("%5C") != path.npos)
    return std::nullopt;
  out += one_path(path);
  const auto query = part(url.get(), CURLUPART_QUERY);
  if (!query.empty()) out += "?" + plain_escapes(query);
  return out;
}

std::string resolve_link(const std::string& base, std::string_view reference) {
  const auto text = cleaned(reference);
  if (text.empty() || text.front() == '#' || text.size() > longest_link ||
      text.find('\0') != std::string_view::npos)
    return {};
  if (text.starts_with("mailto:")) return text;
  const url_handle url{curl_url()};
  if (!url || curl_url_set(url.get(), CURLUPART_URL, base.c_str(), 0) != 0)
    return {};
  constexpr unsigned flags = CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE;
  if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), flags) != 0)
    return {};
  const auto scheme = part(url.get(), CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") return {};
  return part(url.get(), CURLUPART_URL);
}

}  // namespace riffle::tools
