// SPDX-License-Identifier: MIT
#include "runtime/model/openai_mould.hpp"

#include <simdjson.h>

namespace riffle::model::openai {

namespace {

constexpr std::uint32_t max_misses = 16;
constexpr std::size_t max_size = 4096;

}  // namespace

void chunk_mould::learn(std::string_view json, const text_place& place) {
  if (misses_ >= max_misses || json.size() > max_size) return;
  if (!is_plain(json.substr(place.begin, place.length))) return;
  ++misses_;
  kind_ = place.kind;
  prefix_.assign(json.substr(0, place.begin));
  suffix_.assign(json.substr(place.begin + place.length));
}

// What may stand in a JSON string as it is.
bool chunk_mould::is_plain(std::string_view text) {
  bool ascii = true;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == '"' || byte == '\\') return false;
    ascii = ascii && byte < 0x80;
  }
  return ascii || simdjson::validate_utf8(text.data(), text.size());
}

}  // namespace riffle::model::openai
