// SPDX-License-Identifier: MIT
#include "runtime/cli/markdown/text_style.hpp"

#include <array>
#include <string>
#include <utility>

#include "runtime/cli/markdown/inline_text.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t all_marks = 128;

constexpr std::array<std::pair<std::uint8_t, const char*>, 7> codes = {{
    {text_marks::strong, "\x1b[1m"},
    {text_marks::emphasis, "\x1b[3m"},
    {text_marks::code, "\x1b[36m"},
    {text_marks::struck, "\x1b[9m"},
    {text_marks::address, "\x1b[2m"},
    {text_marks::heading, "\x1b[1m"},
    {text_marks::title, "\x1b[4m"},
}};

std::array<std::string, all_marks> every_style() {
  std::array<std::string, all_marks> out;
  for (std::size_t marks = 0; marks < all_marks; ++marks)
    for (const auto& [mark, text] : codes)
      if ((marks & mark) != 0) out[marks] += text;
  return out;
}

}  // namespace

std::string_view style_of(std::uint8_t marks) {
  static const auto styles = every_style();
  return styles[marks % all_marks];
}

}  // namespace riffle::cli
