// SPDX-License-Identifier: MIT
#pragma once

// What a run may spend (agents.*.budget). It is reserved before it is spent: a
// call beyond the budget never begins, and the model is not asked what cannot
// be paid for. What was spent without an answer (a stream that broke or was
// stopped) counts too.

#include <cstdint>
#include <optional>
#include <set>

#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "messages/turn.hpp"

namespace riffle::core {

/// Zero means no limit.
struct run_budget {
  std::uint32_t tool_calls = 0;
  std::uint64_t tokens = 0;
  double cost_usd = 0;

  bool operator==(const run_budget&) const = default;
};

/// USD per million tokens.
struct token_price {
  double input = 0;
  double output = 0;
  std::optional<double> cached_input{};  ///< nothing: as `input`

  bool operator==(const token_price&) const = default;
};

/// Nothing if the model has no price.
[[nodiscard]] std::optional<double> cost_of(const token_price& price,
                                            const token_usage& usage);

/// Why the next request cannot be paid for: what was used and what it needs at
/// least, `prompt_tokens` of input and one of output, go over the budget.
[[nodiscard]] std::optional<error> cannot_pay(const run_budget& budget,
                                              const token_price& price,
                                              const token_usage& used,
                                              std::uint64_t prompt_tokens);

/// Tool calls of a run. A call takes its place when it is known and keeps it
/// once it began; one that settles without having begun (denied, reused, cut
/// off) gives it back. Control tools do no work and are not counted, so that
/// an agent can always `complete`.
class call_budget {
 public:
  /// `limit` 0: there is none. `begun`: calls of an earlier life.
  explicit call_budget(std::uint32_t limit = 0, std::uint32_t begun = 0)
      : limit_{limit}, begun_{begun} {}

  /// False: there is no place left for this call.
  bool reserve(const call_id& call);
  void on_begun(const call_id& call);
  void on_settled(const call_id& call) { reserved_.erase(call); }
  /// Of a call that was refused, and of the run that ends by it.
  [[nodiscard]] error refusal() const;

 private:
  std::uint32_t limit_;
  std::uint32_t begun_;
  std::set<call_id> reserved_;
};

/// The run's error when calls of a step were refused.
[[nodiscard]] error calls_used_up(std::uint32_t limit);

}  // namespace riffle::core
