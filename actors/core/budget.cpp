// SPDX-License-Identifier: MIT
#include "actors/core/budget.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "messages/money.hpp"

namespace riffle::core {

namespace {

constexpr const char* budget_op = "budget";

std::string usd(double x) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.6g USD", x);
  return text.data();
}

error too_much(const std::string& budget, const std::string& used,
               const std::string& needed, const char* key) {
  return {errc::budget_exceeded, budget_op,
          "the run's budget of " + budget +
              " does not pay for another model "
              "call: " +
              used + " are used, and it needs about " + needed +
              "; allow more with budget." + key + " of the agent"};
}

}  // namespace

std::optional<double> cost_of(const token_price& price,
                              const token_usage& usage) {
  if (price.input <= 0 && price.output <= 0) return {};
  const auto cached =
      std::min(usage.cached_tokens.value_or(0), usage.input_tokens);
  const auto of = [](std::uint64_t tokens, double each) {
    return static_cast<double>(tokens) * each;
  };
  return rounded_usd((of(usage.input_tokens - cached, price.input) +
                      of(cached, price.cached_input.value_or(price.input)) +
                      of(usage.output_tokens, price.output)) /
                     1e6);
}

std::optional<error> cannot_pay(const run_budget& budget,
                                const token_price& price,
                                const token_usage& used,
                                std::uint64_t prompt_tokens) {
  token_usage next;
  next.input_tokens = prompt_tokens;
  next.output_tokens = 1;
  const auto spent = total_tokens(used);
  const auto least = add_up(prompt_tokens, 1);
  if (budget.tokens > 0 && add_up(spent, least) > budget.tokens)
    return too_much(std::to_string(budget.tokens) + " tokens",
                    std::to_string(spent), std::to_string(least), "tokens");
  const auto paid = used.cost_usd.value_or(0);
  const auto needed = cost_of(price, next).value_or(0);
  const bool over = paid >= budget.cost_usd || paid + needed > budget.cost_usd;
  if (budget.cost_usd > 0 && over)
    return too_much(usd(budget.cost_usd), usd(paid), usd(needed), "cost_usd");
  return {};
}

bool call_budget::reserve(const call_id& call) {
  if (limit_ == 0) return true;
  if (begun_ + reserved_.size() >= limit_) return false;
  reserved_.insert(call);
  return true;
}

void call_budget::on_begun(const call_id& call) {
  begun_ += static_cast<std::uint32_t>(reserved_.erase(call));
}

error call_budget::refusal() const {
  return {errc::budget_exceeded, budget_op,
          "the run may make " + std::to_string(limit_) +
              " tool calls, and they are used up; this one was not executed"};
}

error calls_used_up(std::uint32_t limit) {
  return {errc::budget_exceeded, budget_op,
          "the model asked for more than the " + std::to_string(limit) +
              " tool calls of the run's budget; allow more with "
              "budget.tool_calls of the agent"};
}

}  // namespace riffle::core
