// SPDX-License-Identifier: MIT
#include "actors/core/plan_references.hpp"

#include <algorithm>

#include "runtime/base/text.hpp"

namespace riffle::core {

namespace {

constexpr std::size_t most_id_bytes = 64;
/// Longer ones are none: a "{{" whose "}}" is far away belongs to other text.
constexpr std::size_t longest_reference = 200;

bool is_id_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '-';
}

plan_reference read(std::string_view inside) {
  constexpr std::string_view tail = ".output";
  plan_reference out;
  const auto id = inside.ends_with(tail)
                      ? inside.substr(0, inside.size() - tail.size())
                      : std::string_view{};
  if (is_step_id(id))
    out.id = id;
  else
    out.problem = "\"{{steps." + std::string{inside} +
                  "}}\" is no reference; write {{steps.ID.output}}";
  return out;
}

}  // namespace

bool is_step_id(std::string_view text) noexcept {
  return !text.empty() && text.size() <= most_id_bytes &&
         std::ranges::all_of(text, is_id_char);
}

std::vector<plan_reference> find_references(std::string_view text) {
  constexpr std::string_view head = "steps.";
  std::vector<plan_reference> out;
  for (auto at = text.find("{{"); at != text.npos;) {
    auto inside = text.substr(at + 2, longest_reference);
    const auto close = inside.find("}}");
    const auto words = trimmed(inside.substr(0, close), " ");
    if (!words.starts_with(head) || close == inside.npos) {
      at = text.find("{{", at + 1);
      continue;
    }
    auto x = read(words.substr(head.size()));
    x.begin = at;
    x.end = at + 2 + close + 2;
    at = text.find("{{", x.end);
    out.push_back(std::move(x));
  }
  return out;
}

}  // namespace riffle::core
