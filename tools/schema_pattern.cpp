// SPDX-License-Identifier: MIT
#include "tools/schema_pattern.hpp"

#include <optional>
#include <regex>
#include <utility>

#include <re2/re2.h>

#include "messages/utf8.hpp"

namespace riffle::tools {

namespace {

constexpr std::size_t longest_pattern = 512;
constexpr std::int64_t most_memory = 8 << 20;

/// libstdc++'s usual matcher recurses once for each character and can take
/// exponential time; this one walks all states side by side.
constexpr auto flags = std::regex::ECMAScript | std::regex::optimize
#ifdef __GLIBCXX__
                       | std::regex_constants::__polynomial
#endif
    ;

std::wstring characters_of(std::string_view text) {
  std::wstring out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto x = first_character(text);
    out.push_back(static_cast<wchar_t>(x.valid ? x.code : 0xFFFD));
    text.remove_prefix(x.size);
  }
  return out;
}

/// An ECMAScript pattern as RE2 says the same; nothing where the two may
/// differ.
class translation {
 public:
  explicit translation(std::string_view from) : from_{from} {}

  std::optional<std::string> run() {
    while (at_ < from_.size()) {
      const char c = from_[at_];
      if (c == '\\') {
        if (!escape()) return std::nullopt;
        continue;
      }
      if (in_class_ ? !in_class(c) : !outside(c)) return std::nullopt;
      ++at_;
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] char next(std::size_t n) const {
    return at_ + n < from_.size() ? from_[at_ + n] : '\0';
  }

  bool outside(char c) {
    if (c == '[') {
      in_class_ = true;
      const auto first = next(1) == '^' ? next(2) : next(1);
      if (first == ']') return false;  // empty, or a bracket
      out_ += c;
    } else if (c == '.') {
      out_ += R"([^\n\r\x{2028}\x{2029}])";
    } else {
      out_ += c;
    }
    return true;
  }

  bool in_class(char c) {
    if (c == ']') in_class_ = false;
    // Classes of POSIX: [[:alpha:]] and their kin.
    if (c == '[' && (next(1) == ':' || next(1) == '.' || next(1) == '='))
      return false;
    if (c == '[') out_ += '\\';
    out_ += c;
    return true;
  }

  bool escape() {
    constexpr std::string_view alike = "dDwWbBnrtfv";
    const char c = next(1);
    if (c == 's' || c == 'S') return space(c);
    if (c == 'x' || c == 'u') return number(c == 'x' ? 2 : 4);
    const bool sign = c > ' ' && c < 0x7F && c != '_' &&
                      std::isalnum(static_cast<unsigned char>(c)) == 0;
    if (!sign && (alike.find(c) == alike.npos || (in_class_ && c == 'b')))
      return false;
    out_.append({'\\', c});
    at_ += 2;
    return true;
  }

  /// RE2's \s has no \v.
  bool space(char c) {
    if (in_class_ && c == 'S') return false;
    if (in_class_)
      out_ += R"(\s\v)";
    else
      out_ += c == 's' ? R"([\s\v])" : R"([^\s\v])";
    at_ += 2;
    return true;
  }

  bool number(std::size_t digits) {
    const auto text = from_.substr(at_ + 2, digits);
    if (text.size() != digits ||
        text.find_first_not_of("0123456789abcdefABCDEF") != text.npos)
      return false;
    // Half a character is none for RE2.
    if (digits == 4 && (text[0] == 'd' || text[0] == 'D') && text[1] > '7')
      return false;
    out_.append("\\x{").append(text).append("}");
    at_ += 2 + digits;
    return true;
  }

  std::string_view from_;
  std::string out_;
  std::size_t at_ = 0;
  bool in_class_ = false;
};

}  // namespace

struct schema_pattern::engine {
  std::optional<RE2> linear;
  std::wregex other;
};

schema_pattern::schema_pattern(std::shared_ptr<const engine> x)
    : engine_{std::move(x)} {}

tl::expected<schema_pattern, std::string> schema_pattern::compile(
    std::string_view text) {
  if (text.size() > longest_pattern)
    return tl::unexpected{std::string{"is longer than 512 bytes"}};
  auto made = std::make_shared<engine>();
  try {  // what it refuses is no ECMAScript, whatever RE2 takes it for
    made->other = std::wregex{characters_of(text), flags};
  } catch (const std::regex_error& e) {
    return tl::unexpected{std::string{e.what()}};
  }
  if (const auto same = translation{text}.run()) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_never_capture(true);
    options.set_max_mem(most_memory);
    made->linear.emplace(*same, options);
    if (made->linear->ok())
      made->other = {};
    else
      made->linear.reset();
  }
  return schema_pattern{std::move(made)};
}

bool schema_pattern::found_in(std::string_view text) const {
  if (engine_->linear)
    return RE2::PartialMatch({text.data(), text.size()}, *engine_->linear);
  if (text.size() > longest_looked_at) return false;
  try {
    return std::regex_search(characters_of(text), engine_->other);
  } catch (const std::regex_error&) {
    return false;
  }
}

bool schema_pattern::linear() const noexcept {
  return engine_->linear.has_value();
}

}  // namespace riffle::tools
