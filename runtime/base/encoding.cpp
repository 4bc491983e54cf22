// SPDX-License-Identifier: MIT
#include "runtime/base/encoding.hpp"

namespace riffle {

namespace {

bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
         (c >= 'a' && c <= 'z');
}

void append_hex(std::string& out, char c, std::string_view digits) {
  const auto byte = static_cast<unsigned char>(c);
  out += digits[byte >> 4U];
  out += digits[byte & 15U];
}

}  // namespace

std::string hex_text(std::string_view bytes) {
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char c : bytes) append_hex(out, c, "0123456789abcdef");
  return out;
}

std::string percent_encoded(std::string_view text, std::string_view kept,
                            std::string_view digits) {
  std::string out;
  for (const char c : text) {
    if (is_alnum(c) || kept.find(c) != kept.npos) {
      out += c;
    } else {
      out += '%';
      append_hex(out, c, digits);
    }
  }
  return out;
}

}  // namespace riffle
