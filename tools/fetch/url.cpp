// SPDX-License-Identifier: MIT
#include "tools/fetch/url.hpp"

#include <charconv>
#include <memory>

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
  if (curl_url_get(url, which, &text, flags) != CURLUE_OK) return {};
  const std::unique_ptr<char, void (*)(void*)> owner{text, curl_free};
  return text;
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
