// SPDX-License-Identifier: MIT
#include "tools/builtin/search/glob_pattern.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "messages/utf8.hpp"

namespace riffle::tools {

namespace {

/// Beyond all of Unicode: one byte that is not UTF-8.
constexpr char32_t lone_byte = 0x110000;

unsigned char byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

/// Length of the well-formed character at `i`, or 0.
std::size_t character_at(std::string_view text, std::size_t i, char32_t& out) {
  const auto found = first_character(text.substr(i));
  out = found.code;
  return found.valid ? found.size : 0;
}

std::u32string units_of(std::string_view text, glob_pattern::units x) {
  std::u32string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    char32_t unit = 0;
    const auto size = x == glob_pattern::units::characters
                          ? character_at(text, i, unit)
                          : std::size_t{0};
    if (size == 0)
      unit = byte_at(text, i) + (x == glob_pattern::units::bytes || size > 0
                                     ? char32_t{0}
                                     : lone_byte);
    result += unit;
    i += std::max<std::size_t>(size, 1);
  }
  return result;
}

using range = std::pair<char32_t, char32_t>;

struct named_class {
  std::u32string_view name;
  std::array<range, 4> ranges;
  std::size_t count;
};

/// As the C locale has them. Made without code, as walks go on on threads that
/// nobody joins.
constexpr std::array<named_class, 12> classes{{
    {U"alnum", {{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}}, 3},
    {U"alpha", {{{'A', 'Z'}, {'a', 'z'}}}, 2},
    {U"blank", {{{'\t', '\t'}, {' ', ' '}}}, 2},
    {U"cntrl", {{{0, 31}, {127, 127}}}, 2},
    {U"digit", {{{'0', '9'}}}, 1},
    {U"graph", {{{33, 126}}}, 1},
    {U"lower", {{{'a', 'z'}}}, 1},
    {U"print", {{{32, 126}}}, 1},
    {U"punct", {{{33, 47}, {58, 64}, {91, 96}, {123, 126}}}, 4},
    {U"space", {{{'\t', '\r'}, {' ', ' '}}}, 2},
    {U"upper", {{{'A', 'Z'}}}, 1},
    {U"xdigit", {{{'0', '9'}, {'A', 'F'}, {'a', 'f'}}}, 3},
}};

/// The characters of `[:name:]`; empty: there is no such class.
std::span<const range> class_of(std::u32string_view name) {
  const auto known = std::ranges::find(classes, name, &named_class::name);
  if (known == classes.end()) return {};
  return std::span{known->ranges}.first(known->count);
}

}  // namespace

glob_pattern::glob_pattern(std::string_view pattern, units x) : units_{x} {
  parse(units_of(pattern, x));
}

void glob_pattern::parse(const std::u32string& text) {
  for (std::size_t i = 0; i < text.size() && !broken_;) {
    switch (text[i]) {
      case '*': parse_star(text, i); break;
      case '?':
        tokens_.push_back({.what = kind::any});
        ++i;
        break;
      case '[': broken_ = !parse_set(text, i); break;
      case '\\':
        if (++i == text.size()) {
          broken_ = true;
          break;
        }
        [[fallthrough]];
      default: tokens_.push_back({.what = kind::one, .unit = text[i++]});
    }
  }
}

/// "**" counts only as a whole part of a path, else it is one "*".
void glob_pattern::parse_star(const std::u32string& text, std::size_t& i) {
  const auto first = i;
  while (i < text.size() && text[i] == '*') ++i;
  const bool at_part = first == 0 || text[first - 1] == '/';
  const bool ends = i == text.size();
  const bool slash = !ends && text[i] == '/';
  const bool escaped = text.compare(i, 2, U"\\/") == 0;
  if (i - first < 2 || !at_part || !(ends || slash || escaped)) {
    tokens_.push_back({.what = kind::star});
  } else if (slash) {
    tokens_.push_back({.what = kind::folders});
    ++i;
  } else {
    tokens_.push_back({.what = kind::all});
  }
}

/// From "[" on; the rules of wildmatch, which git uses. False: never closed,
/// or an unknown class.
bool glob_pattern::parse_set(const std::u32string& text, std::size_t& i) {
  token result{.what = kind::set};
  const auto at = [&](std::size_t k) { return k < text.size() ? text[k] : 0; };
  ++i;
  if (at(i) == '!' || at(i) == '^') {
    result.negated = true;
    ++i;
  }
  char32_t before = 0;
  for (bool first = true; first || at(i) != ']'; first = false, ++i) {
    auto unit = at(i);
    if (unit == 0) return false;
    const bool spans = unit == '-' && before != 0 && at(i + 1) != 0;
    if (spans && at(i + 1) != ']') {
      unit = at(++i);
      if (unit == '\\') unit = at(++i);
      if (unit == 0) return false;
      result.ranges.emplace_back(before, unit);
      before = 0;
      continue;
    }
    if (unit == '[' && at(i + 1) == ':') {
      const auto end = text.find(U']', i + 2);
      if (end == std::u32string::npos) return false;
      if (end > i + 2 && text[end - 1] == ':') {
        const auto known = class_of(text.substr(i + 2, end - i - 3));
        if (known.empty()) return false;
        result.ranges.insert(result.ranges.end(), known.begin(), known.end());
        before = 0;
        i = end;
        continue;
      }
    } else if (unit == '\\') {
      unit = at(++i);
      if (unit == 0) return false;
    }
    result.ranges.emplace_back(unit, unit);
    before = unit;
  }
  ++i;
  tokens_.push_back(std::move(result));
  return true;
}

// State i: the tokens before i matched what was seen.
glob_pattern::states glob_pattern::begin() const {
  states now(tokens_.size() + 1, 0);
  now[0] = 1;
  settle(now);
  return now;
}

/// What may match nothing is passed over.
void glob_pattern::settle(states& now) const {
  for (std::size_t i = 0; i < tokens_.size(); ++i)
    if ((now[i] & 1) != 0 && tokens_[i].what >= kind::star) now[i + 1] |= 1;
}

bool glob_pattern::takes(const token& x, char32_t unit) {
  if (x.what == kind::one) return x.unit == unit;
  if (unit == '/') return false;
  if (x.what == kind::any) return true;
  const bool in = std::any_of(
      x.ranges.begin(), x.ranges.end(),
      [&](const auto& r) { return r.first <= unit && unit <= r.second; });
  return in != x.negated;
}

/// Takes one unit. False when no state is left.
// 2 in a state of `folders`: inside a folder's name, which must end in "/".
bool glob_pattern::step(states& now, char32_t unit) const {
  bool alive = false;
  char carried = 0;  // what the token before gives to this state
  for (std::size_t i = 0; i <= tokens_.size(); ++i) {
    const auto here = now[i];
    auto next = carried;
    carried = 0;
    if (here != 0 && i < tokens_.size()) {
      const auto& x = tokens_[i];
      if (x.what == kind::all || (x.what == kind::star && unit != '/')) {
        next |= 1;
      } else if (x.what == kind::folders) {
        next |= unit == '/' ? 1 : 2;
      } else if (x.what < kind::star && takes(x, unit)) {
        carried = 1;
      }
    }
    now[i] = next;
    alive = alive || next != 0 || carried != 0;
  }
  settle(now);
  return alive;
}

bool glob_pattern::matches(std::string_view path) const {
  if (broken_) return false;
  auto now = begin();
  for (const auto unit : units_of(path, units_))
    if (!step(now, unit)) return false;
  return now.back() != 0;
}

bool glob_pattern::may_match_in(std::string_view folder) const {
  if (broken_) return false;
  if (folder.empty()) return true;
  auto now = begin();
  for (const auto unit : units_of(folder, units_))
    if (!step(now, unit)) return false;
  return step(now, '/');
}

}  // namespace riffle::tools
