// SPDX-License-Identifier: MIT
#include "actors/core/batch_policy.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace riffle::core {

namespace {

// -- sentences ----------------------------------------------------------------

enum class role : std::uint8_t { other, end, full_end, closer, blank, line };

struct glyph {
  std::string_view text;
  role what;
};

constexpr std::array glyphs{
    glyph{"\n", role::line},     glyph{".", role::end},
    glyph{"!", role::end},       glyph{"?", role::end},
    glyph{"\"", role::closer},   glyph{"'", role::closer},
    glyph{")", role::closer},    glyph{"]", role::closer},
    glyph{" ", role::blank},     glyph{"\t", role::blank},
    glyph{"\r", role::blank},    glyph{"…", role::end},
    glyph{"。", role::full_end}, glyph{"！", role::full_end},
    glyph{"？", role::full_end}, glyph{"”", role::closer},
    glyph{"’", role::closer},    glyph{"»", role::closer},
};

constexpr auto roles_of_bytes = [] {
  std::array<role, 128> out{};
  for (const auto& x : glyphs)
    if (x.text.size() == 1) out[static_cast<unsigned char>(x.text[0])] = x.what;
  return out;
}();

std::size_t length_at(std::string_view text, std::size_t pos) noexcept {
  const auto lead = static_cast<unsigned char>(text[pos]);
  if (lead < 0xC0) return 1;
  if (lead < 0xE0) return 2;
  return lead < 0xF0 ? 3 : 4;
}

role role_of(std::string_view character) noexcept {
  const auto first = static_cast<unsigned char>(character.front());
  if (first < roles_of_bytes.size()) return roles_of_bytes[first];
  for (const auto& x : glyphs)
    if (x.text == character) return x.what;
  return role::other;
}

/// Behind the last word, or all.
std::size_t word_cut(std::string_view text) noexcept {
  const auto blank = text.find_last_of(" \t");
  return blank == std::string_view::npos ? text.size() : blank + 1;
}

// -- policies -----------------------------------------------------------------

class by_token final : public batch_policy {
 public:
  bool holds() const noexcept override { return false; }
  std::size_t ready(std::string_view held, time_point) override {
    return held.size();
  }
  void on_left(std::size_t) override {}
  time_point due(const held_text& x) const override { return x.since; }
};

class by_sentence final : public batch_policy {
 public:
  explicit by_sentence(duration delay) : delay_{delay} {}

  std::size_t ready(std::string_view held, time_point) override {
    return sentence_cut(held, scanned_);
  }
  void on_left(std::size_t size) override {
    scanned_ = scanned_ > size ? scanned_ - size : 0;
  }
  time_point due(const held_text& x) const override { return x.since + delay_; }

 private:
  duration delay_;
  std::size_t scanned_ = 0;  ///< where the search for sentence ends goes on
};

/// The delay is what the mean gap between arrivals leaves of the longest one:
/// nothing for text that comes more slowly than that, nearly all of it for
/// text that comes without a pause.
class by_rate final : public batch_policy {
 public:
  explicit by_rate(duration delay) : longest_{delay} {}

  std::size_t ready(std::string_view held, time_point now) override {
    if (last_) {
      // A long silence says nothing about the text behind it.
      const auto gap = std::min(now - *last_, 2 * longest_);
      gap_ = (gap_ + gap) / 2;
    }
    last_ = now;
    return wait() == duration{} ? held.size() : 0;
  }
  void on_left(std::size_t) override {}
  time_point due(const held_text& x) const override { return x.since + wait(); }

 private:
  [[nodiscard]] duration wait() const {
    return std::max(longest_ - gap_, duration{});
  }

  duration longest_;
  duration gap_ = longest_;  ///< mean; at first text is slow
  std::optional<time_point> last_;
};

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
  if (cut == 0 && text.size() >= longest_sentence) cut = word_cut(text);
  return cut;
}

std::unique_ptr<batch_policy> make_batch_policy(batching mode,
                                                duration flush_delay) {
  switch (mode) {
    case batching::token: return std::make_unique<by_token>();
    case batching::sentence: return std::make_unique<by_sentence>(flush_delay);
    case batching::adaptive: break;
  }
  return std::make_unique<by_rate>(flush_delay);
}

}  // namespace riffle::core
