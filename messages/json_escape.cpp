// SPDX-License-Identifier: MIT
#include <array>
#include <cstdint>
#include <cstring>

#include "messages/event_line.hpp"
#include "messages/utf8.hpp"

namespace riffle {

namespace {

using byte = unsigned char;

// What a byte means inside a JSON string: 0 plain, 'u' as \u00XX, 'x' not
// ASCII, any other letter stands after a backslash.
constexpr auto kinds = [] {
  std::array<char, 256> table{};
  for (std::size_t i = 0; i < 0x20; ++i) table[i] = 'u';
  for (std::size_t i = 0x80; i < 256; ++i) table[i] = 'x';
  table['\b'] = 'b';
  table['\f'] = 'f';
  table['\n'] = 'n';
  table['\r'] = 'r';
  table['\t'] = 't';
  table['"'] = '"';
  table['\\'] = '\\';
  return table;
}();

// Whether eight bytes can be copied as they are. May say no to plain bytes
// beside one that is not; never yes to one that is not.
bool all_plain(const byte* p) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t tops = 0x8080808080808080;
  std::uint64_t x = 0;
  std::memcpy(&x, p, sizeof x);
  const auto is_zero = [](std::uint64_t y) { return (y - ones) & ~y; };
  const auto control = x - ones * 0x20;
  const auto quote = is_zero(x ^ (ones * '"'));
  const auto backslash = is_zero(x ^ (ones * '\\'));
  return ((x | control | quote | backslash) & tops) == 0;
}

void append_escape(std::string& out, byte c, char kind) {
  constexpr std::string_view digits = "0123456789abcdef";
  if (kind == 'u') {
    const char text[] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
    out.append(text, sizeof text);
  } else {
    const char text[] = {'\\', kind};
    out.append(text, sizeof text);
  }
}

}  // namespace

void append_json_escaped(std::string& out, std::string_view text) {
  const auto* p = reinterpret_cast<const byte*>(text.data());
  const auto* const end = p + text.size();
  const auto* clean = p;  // from here to `p` nothing needs a change
  const auto flush = [&] {
    out.append(reinterpret_cast<const char*>(clean),
               static_cast<std::size_t>(p - clean));
  };
  while (p != end) {
    if (end - p >= 8 && all_plain(p)) {
      p += 8;
      continue;
    }
    const char kind = kinds[*p];
    if (kind == 0) {
      ++p;
      continue;
    }
    std::size_t length = 1;
    if (kind == 'x') {
      const auto found = first_character({reinterpret_cast<const char*>(p),
                                          static_cast<std::size_t>(end - p)});
      length = found.size;
      if (found.valid) {
        p += length;
        continue;
      }
    }
    flush();
    if (kind == 'x')
      out.append(replacement_character);
    else
      append_escape(out, *p, kind);
    p += length;
    clean = p;
  }
  flush();
}

}  // namespace riffle
