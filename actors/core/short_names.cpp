// SPDX-License-Identifier: MIT
#include "actors/core/short_names.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace riffle::core {

namespace {

/// Up to the end of a character.
std::string begin_of(std::string_view text, std::size_t size) {
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80)
    --size;
  return std::string{text.substr(0, size)};
}

/// FNV-1a. Who makes two ids with one value has calls of its own mixed up.
std::string digits_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  std::array<char, 17> out{};
  std::snprintf(out.data(), out.size(), "%016llx",
                static_cast<unsigned long long>(hash));
  return out.data();
}

}  // namespace

void shorten_names(turn_delta& x) {
  constexpr std::size_t digits = 17;
  for (auto& call : x.fragments) {
    if (call.id.size() > longest_id)
      call.id =
          begin_of(call.id, longest_id - digits) + "-" + digits_of(call.id);
    if (call.name.size() > longest_name)
      call.name = begin_of(call.name, longest_name - 3) + "...";
  }
}

}  // namespace riffle::core
