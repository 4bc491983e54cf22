// SPDX-License-Identifier: MIT
#include "tools/builtin/files/path_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "tools/text.hpp"

namespace riffle::tools {

namespace {

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

std::string octal(char c) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "\\%03o",
                static_cast<unsigned>(static_cast<unsigned char>(c)));
  return text.data();
}

std::string escaped(char c, bool readable) {
  switch (c) {
    case '\n': return "\\n";
    case '\t': return "\\t";
    case '\r': return "\\r";
    case '"': return "\\\"";
    case '\\': return "\\\\";
    default: return readable && !is_control(c) ? std::string{c} : octal(c);
  }
}

}  // namespace

std::string path_text(std::string_view path) {
  std::string valid;
  utf8_stream utf8;
  utf8.feed(path, valid);
  utf8.finish(valid);
  const bool readable = utf8.replaced() == 0;
  if (readable && std::none_of(path.begin(), path.end(), is_control) &&
      !path.starts_with('"'))
    return valid;
  std::string result = "\"";
  for (const char c : path)
    result += escaped(c, readable || static_cast<unsigned char>(c) < 0x80);
  return result + '"';
}

}  // namespace riffle::tools
