// SPDX-License-Identifier: MIT
#include "actors/core/short_names.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "messages/utf8.hpp"

namespace riffle::core {

namespace {

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
      call.id = std::string{cut_utf8(call.id, longest_id - digits)} + "-" +
                digits_of(call.id);
    if (call.name.size() > longest_name)
      call.name = std::string{cut_utf8(call.name, longest_name - 3)} + "...";
  }
}

}  // namespace riffle::core
