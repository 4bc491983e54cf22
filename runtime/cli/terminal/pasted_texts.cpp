// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/pasted_texts.hpp"

#include <algorithm>
#include <utility>

#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"

namespace riffle::cli {

namespace {

/// The last plane of private characters: no keyboard and no font has them.
constexpr std::uint32_t first_mark = 0x100000;
constexpr std::uint32_t mark_count = 0xFFFE;  // the last two are no characters

std::string mark_of(std::uint32_t code) {
  std::string out;
  for (const int shift : {18, 12, 6, 0})
    out += static_cast<char>((shift == 18 ? 0xF0 : 0x80) |
                             ((code >> shift) & (shift == 18 ? 0x07 : 0x3F)));
  return out;
}

std::size_t lines_in(std::string_view text) {
  const auto ends = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  return ends + (text.empty() || text.back() == '\n' ? 0 : 1);
}

/// "10,000"
std::string grouped(std::size_t n) {
  auto out = std::to_string(n);
  constexpr std::size_t group = 3;
  for (auto at = out.size(); at > group; at -= group)
    out.insert(at - group, ",");
  return out;
}

}  // namespace

std::string pasted_texts::label_of(const piece& x) {
  const auto size = x.text.size();
  const auto lines = lines_in(x.text);
  if (x.left_out > 0)
    return "[pasted text, " + short_size(size) + " of " +
           short_size(size + x.left_out) + ": the rest was left out]";
  return "[pasted text, " +
         (lines > 1 ? grouped(lines) + " lines" : short_size(size)) + "]";
}

bool pasted_texts::is_long(std::string_view text) {
  constexpr std::size_t most_lines = 8;
  constexpr std::size_t most_bytes = 1000;
  return text.size() > most_bytes || lines_in(text) > most_lines;
}

std::string pasted_texts::without_marks(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto at = std::min(text.find('\xF4'), text.size());
    out += text.substr(0, at);
    text.remove_prefix(at);
    if (text.empty()) break;
    out += "\xEF\xBF\xBD";  // U+FFFD
    text.remove_prefix(std::min(mark_size, text.size()));
  }
  return out;
}

std::string pasted_texts::keep(std::string text, std::size_t left_out) {
  static_assert(most < mark_count);
  if (all_.size() >= most) return {};
  while (all_.contains(first_mark + next_)) next_ = (next_ + 1) % mark_count;
  const auto code = first_mark + next_;
  next_ = (next_ + 1) % mark_count;
  all_.emplace(code, piece{std::move(text), left_out});
  return mark_of(code);
}

void pasted_texts::add_marks(std::string_view text,
                             std::set<std::uint32_t>& out) {
  for (auto at = text.find('\xF4'); at != text.npos;
       at = text.find('\xF4', at + 1))
    out.insert(first_character(text.substr(at)).code);
}

void pasted_texts::release_all_but(const std::set<std::uint32_t>& marks) {
  std::erase_if(all_, [&](const auto& x) { return !marks.contains(x.first); });
}

const pasted_texts::piece* pasted_texts::of(std::string_view mark) const {
  const auto x = first_character(mark);
  const auto found = x.valid ? all_.find(x.code) : all_.end();
  return found == all_.end() ? nullptr : &found->second;
}

/// `take`: a text between marks, or null and the text behind one.
template <class Take>
void pasted_texts::each(std::string_view text, Take take) const {
  while (!text.empty()) {
    const auto at = std::min(text.find('\xF4'), text.size());
    if (at > 0) take(text.substr(0, at), nullptr);
    text.remove_prefix(at);
    if (text.empty()) return;
    const auto size = std::min(mark_size, text.size());
    take(text.substr(0, size), of(text.substr(0, size)));
    text.remove_prefix(size);
  }
}

std::string pasted_texts::whole(std::string_view text) const {
  std::string out;
  each(text, [&](std::string_view part, const piece* kept) {
    out += kept ? std::string_view{kept->text} : part;
  });
  return out;
}

std::string pasted_texts::shown(std::string_view text) const {
  std::string out;
  each(text, [&](std::string_view part, const piece* kept) {
    kept ? out += label_of(*kept) : out += part;
  });
  return out;
}

std::size_t pasted_texts::whole_size(std::string_view text) const {
  std::size_t out = 0;
  each(text, [&](std::string_view part, const piece* kept) {
    out += kept ? kept->text.size() : part.size();
  });
  return out;
}

}  // namespace riffle::cli
