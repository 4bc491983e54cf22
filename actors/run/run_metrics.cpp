// SPDX-License-Identifier: MIT
#include "actors/run/run_metrics.hpp"

#include <optional>

#include "runtime/base/metrics.hpp"

namespace riffle {

namespace {

double seconds(std::uint64_t ms) { return static_cast<double>(ms) / 1000; }

/// "" where it went well, as an attribute that is not set.
std::string_view code_of(const std::optional<error>& why) {
  return why ? to_string(why->code) : std::string_view{};
}

void take(const events::tool_result& x, std::string_view agent) noexcept {
  measure(metric::tool_duration, seconds(x.duration_ms),
          {{metric_key::tool, x.tool},
           {metric_key::agent, agent},
           {metric_key::error_type, code_of(x.err)}});
}

void take(const events::run_finished& x, std::string_view agent) noexcept {
  measure(
      metric::run_duration, seconds(x.duration_ms),
      {{metric_key::agent, agent}, {metric_key::error_type, code_of(x.err)}});
}

void take(const events::tool_progress& x, std::string_view) noexcept {
  if (x.report.coalesced > 0)
    measure(metric::coalesced, static_cast<double>(x.report.coalesced),
            {{metric_key::tool, x.tool}});
}

void take(const events::plan_step_finished& x, std::string_view) noexcept {
  measure(metric::plan_step_duration, seconds(x.duration_ms),
          {{metric_key::plan_step, x.id},
           {metric_key::error_type, code_of(x.err)}});
}

void take(const events::plan_finished& x, std::string_view) noexcept {
  measure(metric::plan_duration, seconds(x.duration_ms),
          {{metric_key::error_type, code_of(x.err)}});
}

void take(const events::retry& x, std::string_view) noexcept {
  measure(metric::retries, 1, {{metric_key::retry_what, to_string(x.what)}});
}

template <class T>
void take(const T&, std::string_view) noexcept {}

}  // namespace

void event_meter::take_question(const events::body& x, time_point now) {
  if (const auto* asked = std::get_if<events::approval_required>(&x)) {
    asked_.insert_or_assign(asked->proposal, now);
  } else if (const auto* said = std::get_if<events::approval_resolved>(&x)) {
    const auto at = asked_.extract(said->proposal);
    if (at)
      measure(metric::approval_wait,
              std::chrono::duration<double>(now - at.mapped()).count(),
              {{metric_key::approval, to_string(said->how)}});
  }
}

void event_meter::take(const events::body& x, time_point now) {
  if (!metrics_are_read()) return;
  std::visit([this](const auto& body) { riffle::take(body, agent_); }, x);
  take_question(x, now);
}

}  // namespace riffle
