// SPDX-License-Identifier: MIT
#include "messages/call.hpp"

#include "messages/enum_text.hpp"

namespace riffle {

namespace {

constexpr text_table<2> effects = {"read_only", "mutating"};
static_assert(covers(effects, effect::mutating));

constexpr text_table<7> outcomes = {
    "ok",        "failed",      "denied",    "skipped",
    "cancelled", "interrupted", "timed_out",
};
static_assert(covers(outcomes, outcome::timed_out));

}  // namespace

std::string_view to_string(effect x) noexcept { return text_of(effects, x); }

std::string_view to_string(outcome x) noexcept { return text_of(outcomes, x); }

std::optional<effect> parse_effect(std::string_view text) noexcept {
  return enum_of<effect>(effects, text);
}

std::optional<outcome> parse_outcome(std::string_view text) noexcept {
  return enum_of<outcome>(outcomes, text);
}

}  // namespace riffle
