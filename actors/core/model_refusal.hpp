// SPDX-License-Identifier: MIT
#pragma once

// What a model's server means by an error, and what else can be asked: once
// more without a parameter, with a shorter conversation, another model.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"

namespace riffle::core {

/// How a `status` begins that says that a model is asked in another way, or
/// another one; its name stands behind it.
inline constexpr const char* asked_anew = "model ";

/// The conversation is longer than the model takes. Providers have no common
/// code for it, so their words decide; limits of tokens a minute are no such
/// thing.
[[nodiscard]] bool is_context_overflow(const error& x);

/// The parameter of `sent` (names as in the configuration, or keys of `extra`)
/// that a 400 or 422 names as one that the model or the server does not take;
/// of two that it may mean with one word the later one.
[[nodiscard]] std::optional<std::string> refused_parameter(
    const error& x, const std::vector<std::string>& sent);

/// Nobody asked for it: its dialect says it by itself (`dialect::additions`).
/// Each of these may be left out beside one that was asked for.
[[nodiscard]] bool is_added(std::string_view parameter);

/// Another model may well answer now: this one cannot be reached, does not
/// begin to answer, has too much to do, or does not serve us (quota, bill).
[[nodiscard]] bool is_out_of_service(const error& x);

/// What was tried already in a step.
struct second_tries {
  bool made_room = false;
  bool left_out = false;  ///< a parameter that was asked for
};

enum class second_try : std::uint8_t {
  none,               ///< it is a failure like any
  without_parameter,  ///< which one: `parameter`
  with_less,          ///< old outputs left out
  other_model,
};

struct next_try {
  second_try how = second_try::none;
  std::string parameter{};

  bool operator==(const next_try&) const = default;
};

/// After a turn that failed before anything of its answer came. `others`: there
/// is a model left that was not asked in this run.
[[nodiscard]] next_try plan_second_try(const error& x,
                                       const std::vector<std::string>& sent,
                                       const second_tries& before, bool others);

}  // namespace riffle::core
