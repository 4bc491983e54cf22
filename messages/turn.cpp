// SPDX-License-Identifier: MIT
#include "messages/turn.hpp"

#include <algorithm>
#include <limits>

#include "messages/enum_text.hpp"
#include "messages/money.hpp"

namespace riffle {

namespace {

constexpr text_table<6> reasons = {
    "stop", "tool_calls", "length", "content_filter", "missing", "paused",
};
static_assert(covers(reasons, finish_reason::paused));

double plus(double x, double y) {
  return std::min(rounded_usd(x + y), std::numeric_limits<double>::max());
}

std::uint64_t plus(std::uint64_t x, std::uint64_t y) { return add_up(x, y); }

template <class T>
void add_part(std::optional<T>& sum, const std::optional<T>& x) {
  if (x) sum = plus(sum.value_or(T{}), *x);
}

}  // namespace

void add(token_usage& sum, const token_usage& x) {
  sum.input_tokens = add_up(sum.input_tokens, x.input_tokens);
  sum.output_tokens = add_up(sum.output_tokens, x.output_tokens);
  add_part(sum.cached_tokens, x.cached_tokens);
  add_part(sum.reasoning_tokens, x.reasoning_tokens);
  add_part(sum.cost_usd, x.cost_usd);
  sum.estimated = sum.estimated || x.estimated;
}

std::string_view to_string(finish_reason x) noexcept {
  return text_of(reasons, x);
}

}  // namespace riffle
