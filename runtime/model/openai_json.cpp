// SPDX-License-Identifier: MIT
// JSON as providers really send it: repaired, bounded, then parsed.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "messages/utf8.hpp"
#include "runtime/model/openai_chunk.hpp"
#include "runtime/model/surrogate_joiner.hpp"

namespace riffle::model::openai {

namespace {

constexpr std::size_t max_depth = 256;

std::uint8_t byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<std::uint8_t>(text[i]) : 0;
}

class repairer {
 public:
  repairer(std::string_view text, bool keep_halves)
      : text_{text}, keep_halves_{keep_halves} {
    out_.reserve(text.size());
  }

  [[nodiscard]] bool any_half() const noexcept { return any_half_; }
  /// The text itself has characters that stand for halves.
  [[nodiscard]] bool ambiguous() const noexcept { return ambiguous_; }

  std::optional<std::string> run() {
    while (i_ < text_.size()) {
      const char c = text_[i_];
      if (in_string_ && c == '\\') {
        escape();
      } else if (in_string_ && byte_at(text_, i_) < 0x20) {
        control(byte_at(text_, i_++));
      } else if (byte_at(text_, i_) >= 0x80) {
        character();
      } else {
        if (c == '"') in_string_ = !in_string_;
        // The parser takes a NUL byte for the end of the text.
        if (!in_string_ && (c == '\0' || !count(c))) return std::nullopt;
        out_.push_back(c);
        ++i_;
      }
    }
    return std::move(out_);
  }

 private:
  bool count(char c) {
    if (c == '{' || c == '[') return ++depth_ <= max_depth;
    if ((c == '}' || c == ']') && depth_ > 0) --depth_;
    return true;
  }

  void escape() {
    const auto unit = read_escape(text_, i_);
    if (!unit) {
      out_.append(text_.substr(i_, 2));
      i_ += 2;
      return;
    }
    const bool high = *unit >= 0xD800 && *unit < 0xDC00;
    const bool low = *unit >= 0xDC00 && *unit < 0xE000;
    const auto next = high ? read_escape(text_, i_ + 6) : std::nullopt;
    const bool pair = next && *next >= 0xDC00 && *next < 0xE000;
    if (pair) {
      ambiguous_ =
          ambiguous_ || (*unit == 0xDBFE && *next >= 0xDC00) || *unit == 0xDBFF;
      out_.append(text_.substr(i_, 12));
      i_ += 12;
      return;
    }
    if (keep_halves_ && (high || low)) {
      any_half_ = true;
      halves::append(*unit, out_);
    } else {
      out_.append(high || low ? std::string_view{"\\ufffd"}
                              : text_.substr(i_, 6));
    }
    i_ += 6;
  }

  void control(std::uint8_t c) {
    constexpr std::string_view digits = "0123456789abcdef";
    out_.append("\\u00");
    out_.push_back(digits[c >> 4]);
    out_.push_back(digits[c & 15]);
  }

  void character() {
    const auto step = first_character(text_.substr(i_));
    if (step.valid) {
      ambiguous_ = ambiguous_ || halves::first(text_.substr(i_)).has_value();
      out_.append(text_.substr(i_, step.size));
      i_ += step.size;
    } else {
      out_.append(replacement_character);
      i_ += step.size;
    }
  }

  std::string_view text_;
  std::string out_;
  std::size_t i_ = 0;
  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool keep_halves_;
  bool any_half_ = false;
  bool ambiguous_ = false;
};

/// An object that keeps the order of its members is a list of them: with very
/// many it costs their square. No provider sends such a thing.
bool has_crowded_object(std::string_view text) {
  constexpr std::size_t most = 4096;
  constexpr std::size_t bytes_of_a_member = 4;  // "":0
  if (text.size() < most * bytes_of_a_member) return false;
  std::vector<std::size_t> members;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{') {
      members.push_back(0);
    } else if (c == '}' && !members.empty()) {
      members.pop_back();
    } else if (c == ':' && !members.empty() && ++members.back() > most) {
      return true;
    }
  }
  return false;
}

std::optional<nlohmann::ordered_json> parse(
    const std::optional<std::string>& text) {
  if (!text || has_crowded_object(*text)) return std::nullopt;
  auto json = nlohmann::ordered_json::parse(*text, nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  return json;
}

}  // namespace

std::optional<unsigned> read_escape(std::string_view text, std::size_t i) {
  if (i + 6 > text.size() || text[i] != '\\' || text[i + 1] != 'u')
    return std::nullopt;
  unsigned unit = 0;
  for (std::size_t k = i + 2; k < i + 6; ++k) {
    const char c = text[k];
    const auto digit = c >= '0' && c <= '9'   ? c - '0'
                       : c >= 'a' && c <= 'f' ? c - 'a' + 10
                       : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                              : -1;
    if (digit < 0) return std::nullopt;
    unit = unit * 16 + static_cast<unsigned>(digit);
  }
  return unit;
}

std::optional<nlohmann::ordered_json> parse_json(std::string_view text) {
  return parse(repairer{text, false}.run());
}

std::optional<nlohmann::ordered_json> parse_halves(std::string_view text,
                                                   bool& any) {
  repairer x{text, true};
  auto repaired = x.run();
  any = x.any_half() && !x.ambiguous();
  return x.any_half() && x.ambiguous() ? parse_json(text) : parse(repaired);
}

}  // namespace riffle::model::openai
