// SPDX-License-Identifier: MIT
#include "runtime/base/media.hpp"

#include <algorithm>
#include <utility>

#include <openssl/evp.h>

#include "runtime/base/digest.hpp"

namespace riffle {

std::string_view media_type_of(std::string_view bytes) noexcept {
  using namespace std::string_view_literals;
  if (bytes.starts_with("\x89PNG\r\n\x1a\n"sv)) return "image/png";
  if (bytes.starts_with("\xff\xd8\xff"sv)) return "image/jpeg";
  if (bytes.starts_with("GIF87a"sv) || bytes.starts_with("GIF89a"sv))
    return "image/gif";
  if (bytes.size() >= 12 && bytes.starts_with("RIFF"sv) &&
      bytes.substr(8, 4) == "WEBP"sv)
    return "image/webp";
  if (bytes.starts_with("%PDF-"sv)) return "application/pdf";
  return {};
}

std::optional<attachment> describe_media(std::string name,
                                         std::string_view bytes) {
  const auto type = media_type_of(bytes);
  if (type.empty()) return std::nullopt;
  return attachment{std::move(name), std::string{type}, bytes.size(),
                    sha256(bytes)};
}

void append_base64(std::string& out, std::string_view bytes) {
  // Whole groups of three, so that only the last piece is padded.
  constexpr std::size_t piece = 3u << 18;
  const auto begin = out.size();
  out.resize(begin + (bytes.size() + 2) / 3 * 4 + 1);  // and its final NUL
  auto at = begin;
  for (std::size_t i = 0; i < bytes.size(); i += piece) {
    const auto part = bytes.substr(i, piece);
    at += static_cast<std::size_t>(
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data() + at),
                        reinterpret_cast<const unsigned char*>(part.data()),
                        static_cast<int>(part.size())));
  }
  out.resize(at);
}

std::string to_base64(std::string_view bytes) {
  std::string out;
  append_base64(out, bytes);
  return out;
}

std::string from_base64(std::string_view text) {
  std::string out(text.size() / 4 * 3 + 3, '\0');
  const auto size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(text.data()),
                      static_cast<int>(text.size()));
  if (size < 0 || text.size() % 4 != 0) return {};
  out.resize(static_cast<std::size_t>(size));
  for (auto rest = text; !out.empty() && rest.ends_with('=');) {
    out.pop_back();
    rest.remove_suffix(1);
  }
  return out;
}

}  // namespace riffle
