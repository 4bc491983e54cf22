// SPDX-License-Identifier: MIT
#include "actors/run/run_metrics.hpp"

#include <optional>

#include "runtime/base/metrics.hpp"

namespace riffle {

namespace {

constexpr std::string_view operation = "gen_ai.operation.name";
constexpr std::string_view error_type = "error.type";

double seconds(std::uint64_t ms) { return static_cast<double>(ms) / 1000; }

/// "" where it went well, as an attribute that is not set.
std::string_view code_of(const std::optional<error>& why) {
  return why ? to_string(why->code) : std::string_view{};
}

void take(const events::tool_result& x) noexcept {
  measure(metric::tool_duration, seconds(x.duration_ms),
          {{operation, "execute_tool"},
           {"gen_ai.tool.name", x.tool},
           {error_type, code_of(x.err)}});
}

void take(const events::run_finished& x) noexcept {
  measure(metric::run_duration, seconds(x.duration_ms),
          {{operation, "invoke_agent"}, {error_type, code_of(x.err)}});
  const auto tokens = [](std::uint64_t n, std::string_view type) {
    measure(metric::run_tokens, static_cast<double>(n),
            {{operation, "invoke_agent"}, {"gen_ai.token.type", type}});
  };
  tokens(x.usage.input_tokens, "input");
  tokens(x.usage.output_tokens, "output");
}

void take(const events::plan_step_finished& x) noexcept {
  measure(metric::plan_step_duration, seconds(x.duration_ms),
          {{"riffle.plan.step.id", x.id}, {error_type, code_of(x.err)}});
}

void take(const events::plan_finished& x) noexcept {
  measure(metric::plan_duration, seconds(x.duration_ms),
          {{error_type, code_of(x.err)}});
}

void take(const events::retry& x) noexcept {
  measure(metric::retries, 1, {{"riffle.retry.what", to_string(x.what)}});
}

template <class T>
void take(const T&) noexcept {}

}  // namespace

void measure_event(const events::body& x) noexcept {
  if (metrics_are_read()) std::visit([](const auto& body) { take(body); }, x);
}

}  // namespace riffle
