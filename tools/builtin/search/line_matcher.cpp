// SPDX-License-Identifier: MIT
#include "tools/builtin/search/line_matcher.hpp"

#include <utility>

#include <re2/re2.h>

namespace riffle::tools {

namespace {

constexpr std::int64_t most_memory = 8 << 20;

re2::StringPiece piece(std::string_view text) {
  return {text.data(), text.size()};
}

RE2::Options options_of(const line_matcher::options& x) {
  RE2::Options result;
  result.set_log_errors(false);
  result.set_max_mem(most_memory);
  result.set_case_sensitive(!x.case_insensitive);
  result.set_literal(x.literal);
  return result;
}

}  // namespace

struct line_matcher::engine {
  engine(std::string_view pattern, const options& x)
      : re{piece(pattern), options_of(x)} {}
  RE2 re;
};

line_matcher::line_matcher(std::unique_ptr<engine> x) : engine_{std::move(x)} {}
line_matcher::~line_matcher() = default;
line_matcher::line_matcher(line_matcher&&) noexcept = default;
line_matcher& line_matcher::operator=(line_matcher&&) noexcept = default;

tl::expected<line_matcher, std::string> line_matcher::make(
    std::string_view pattern, options x) {
  auto made = std::make_unique<engine>(pattern, x);
  if (!made->re.ok())
    return tl::unexpected{
        "the pattern is wrong: " + made->re.error() +
        "; it is an RE2 expression (no look-around, no back-references); "
        "set literal to search for plain text"};
  return line_matcher{std::move(made)};
}

bool line_matcher::matches(std::string_view text, std::size_t begin,
                           std::size_t end) const {
  return engine_->re.Match(piece(text), begin, end, RE2::UNANCHORED, nullptr,
                           0);
}

std::optional<std::size_t> line_matcher::find(std::string_view text,
                                              std::size_t begin,
                                              std::size_t end) const {
  re2::StringPiece found;
  if (!engine_->re.Match(piece(text), begin, end, RE2::UNANCHORED, &found, 1))
    return std::nullopt;
  return static_cast<std::size_t>(found.data() - text.data());
}

}  // namespace riffle::tools
