// SPDX-License-Identifier: MIT
#include "actors/core/conflict.hpp"

#include <algorithm>
#include <string_view>

namespace riffle::core {

namespace {

bool covers(std::string_view folder, std::string_view path) {
  if (folder.empty() || folder == "/" || folder == ".") return true;
  return path.size() > folder.size() && path.starts_with(folder) &&
         (folder.back() == '/' || path[folder.size()] == '/');
}

}  // namespace

bool keys_overlap(const std::string& a, const std::string& b) {
  return a == b || covers(a, b) || covers(b, a);
}

bool conflict(const tool_call& a, const tool_call& b) {
  const bool a_mutates = a.eff == effect::mutating;
  const bool b_mutates = b.eff == effect::mutating;
  if (a_mutates && b_mutates) return true;
  if (!a_mutates && !b_mutates) return false;
  const auto& writer = a_mutates ? a : b;
  const auto& reader = a_mutates ? b : a;
  if (writer.keys.empty()) return true;
  return std::ranges::any_of(writer.keys, [&](const auto& w) {
    return std::ranges::any_of(
        reader.keys, [&](const auto& r) { return keys_overlap(w, r); });
  });
}

}  // namespace riffle::core
