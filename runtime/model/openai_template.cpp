// SPDX-License-Identifier: MIT
#include "runtime/model/openai_template.hpp"

#include <simdjson.h>

#include "messages/utf8.hpp"

namespace riffle::model::openai {

namespace {

constexpr std::uint32_t max_misses = 16;
constexpr std::size_t max_size = 4096;

// The character of the escape at `i`, which moves behind it. False for what is
// no escape, and for surrogates, which are rare.
bool append_escape(std::string_view text, std::size_t& i, std::string& to) {
  if (i + 1 == text.size()) return false;
  const char letter = text[i + 1];
  if (letter == 'u') {
    const auto unit = read_escape(text, i);
    if (!unit || (*unit >= 0xD800 && *unit < 0xE000)) return false;
    append_utf8(to, *unit);
    i += 6;
    return true;
  }
  constexpr std::string_view letters = "nrtbf\"\\/";
  constexpr std::string_view meanings = "\n\r\t\b\f\"\\/";
  const auto place = letters.find(letter);
  if (place == std::string_view::npos) return false;
  to.push_back(meanings[place]);
  i += 2;
  return true;
}

}  // namespace

bool append_unescaped(std::string_view text, std::string& to) {
  unsigned char all = 0;
  std::size_t begin = 0;
  std::size_t i = 0;
  while (i < text.size()) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == '"') return false;
    all |= byte;
    if (byte != '\\') {
      ++i;
      continue;
    }
    to.append(text.substr(begin, i - begin));
    if (!append_escape(text, i, to)) return false;
    begin = i;
  }
  to.append(text.substr(begin));
  return all < 0x80 || simdjson::validate_utf8(text.data(), text.size());
}

void chunk_template::learn(std::string_view json, const text_place& place) {
  if (misses_ >= max_misses || json.size() > max_size) return;
  ++misses_;
  place_ = place;
  prefix_.assign(json.substr(0, place.begin));
  suffix_.assign(json.substr(place.begin + place.length));
}

bool chunk_template::fill(std::string_view text, turn_delta& out) {
  if (place_.call) {
    auto& fragment = out.fragments.emplace_back();
    fragment.index = place_.call;
    if (!append_unescaped(text, fragment.arguments)) {
      out.fragments.pop_back();
      return false;
    }
  } else {
    auto& bytes = out.pieces.bytes;
    const auto before = bytes.size();
    if (!append_unescaped(text, bytes)) {
      bytes.resize(before);
      return false;
    }
    if (bytes.size() != before) {
      out.pieces.pieces.push_back(
          {place_.kind, static_cast<std::uint32_t>(bytes.size())});
    }
  }
  misses_ = 0;
  return true;
}

}  // namespace riffle::model::openai
