// SPDX-License-Identifier: MIT
#include "actors/core/text_batcher.hpp"

#include <algorithm>
#include <array>

namespace riffle::core {
namespace {

enum class role : std::uint8_t { other, end, full_end, closer, blank, line };

struct glyph {
  std::string_view text;
  role what;
};

constexpr std::array wide_glyphs{
    glyph{"…", role::end},       glyph{"。", role::full_end},
    glyph{"！", role::full_end}, glyph{"？", role::full_end},
    glyph{"”", role::closer},    glyph{"’", role::closer},
    glyph{"»", role::closer},
};

std::size_t length_at(std::string_view text, std::size_t pos) noexcept {
  const auto lead = static_cast<unsigned char>(text[pos]);
  if (lead < 0xC0) return 1;
  if (lead < 0xE0) return 2;
  return lead < 0xF0 ? 3 : 4;
}

role role_of(std::string_view glyph_text) noexcept {
  if (glyph_text.size() > 1) {
    for (const auto& x : wide_glyphs)
      if (x.text == glyph_text) return x.what;
    return role::other;
  }
  switch (glyph_text.front()) {
    case '\n': return role::line;
    case '.':
    case '!':
    case '?': return role::end;
    case '"':
    case '\'':
    case ')':
    case ']': return role::closer;
    case ' ':
    case '\t':
    case '\r': return role::blank;
    default: return role::other;
  }
}

}  // namespace

std::size_t sentence_cut(std::string_view text, std::size_t& from) noexcept {
  constexpr auto none = std::string_view::npos;
  std::size_t cut = 0;
  auto ending = none;  // begin of an end mark that still needs its blank
  auto pos = from;
  while (pos < text.size()) {
    const auto size = length_at(text, pos);
    if (size > text.size() - pos) break;
    const auto what = role_of(text.substr(pos, size));
    const auto begin = pos;
    pos += size;
    if (what == role::line || what == role::full_end ||
        (what == role::blank && ending != none)) {
      cut = pos;
      ending = none;
    } else if (what == role::end) {
      ending = ending == none ? begin : ending;
    } else if (what != role::closer) {
      ending = none;
    }
  }
  from = ending == none ? pos : ending;
  return cut;
}

std::optional<time_point> text_batcher::due() const noexcept {
  if (buffer_.empty()) return std::nullopt;
  const auto age = mode_ == batching::adaptive && emitted_
                       ? std::min(*emitted_, since_)
                       : since_;
  return age + delay_;
}

void text_batcher::append(bool reasoning, std::string_view content) {
  if (buffer_.empty()) {
    reasoning_ = reasoning;
    since_ = now_;
  }
  buffer_.append(content);
}

std::size_t text_batcher::due_size() noexcept {
  const auto when = due();
  if (!when) return 0;
  if (now_ >= *when || (mode_ == batching::adaptive && !emitted_))
    return buffer_.size();
  return mode_ == batching::sentence ? sentence_cut(buffer_, scanned_) : 0;
}

text_out text_batcher::front(std::size_t size) const noexcept {
  return {reasoning_ ? piece_kind::reasoning : piece_kind::text,
          std::string_view{buffer_}.substr(0, size)};
}

void text_batcher::drop(std::size_t size) {
  buffer_.erase(0, size);
  scanned_ = scanned_ > size ? scanned_ - size : 0;
  emitted_ = now_;
  since_ = now_;  // a sentence end is found when it comes: the rest is newer
}

}  // namespace riffle::core
