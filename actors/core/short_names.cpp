// SPDX-License-Identifier: MIT
#include "actors/core/short_names.hpp"

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "messages/utf8.hpp"
#include "runtime/base/digest.hpp"

namespace riffle::core {

namespace {

/// Who makes two ids with one value has calls of its own mixed up.
std::string digits_of(std::string_view text) {
  std::array<char, 17> out{};
  std::snprintf(out.data(), out.size(), "%016llx",
                static_cast<unsigned long long>(fnv1a(text)));
  return out.data();
}

}  // namespace

std::uint64_t shorten_names(turn_delta& x) {
  constexpr std::size_t digits = 17;
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  for (auto& call : x.fragments) {
    before += call.id.size() + call.name.size();
    if (call.id.size() > longest_id)
      call.id = std::string{cut_utf8(call.id, longest_id - digits)} + "-" +
                digits_of(call.id);
    if (call.name.size() > longest_name)
      call.name = std::string{cut_utf8(call.name, longest_name - 3)} + "...";
    after += call.id.size() + call.name.size();
  }
  return before - after;
}

}  // namespace riffle::core
