// SPDX-License-Identifier: MIT
#include "runtime/base/metrics.hpp"

#include <atomic>
#include <mutex>
#include <utility>

namespace riffle {

namespace {

constexpr std::array<metric_about, metric_count> table{{
    {metric::tool_duration, "gen_ai.client.operation.duration",
     metric_kind::histogram, "s", "Time of a tool call, with its attempts.",
     "tool_result"},
    {metric::run_duration, "gen_ai.client.operation.duration",
     metric_kind::histogram, "s", "Time of a run of an agent.", "run_finished"},
    {metric::plan_duration, "riffle.plan.duration", metric_kind::histogram, "s",
     "Time of a plan.", "plan_finished"},
    {metric::plan_step_duration, "riffle.plan.step.duration",
     metric_kind::histogram, "s", "Time of a step of a plan.",
     "plan_step_finished"},
    {metric::run_tokens, "gen_ai.client.token.usage", metric_kind::histogram,
     "{token}", "Tokens of a run, by gen_ai.token.type.", "run_finished"},
    {metric::retries, "riffle.retries", metric_kind::counter, "{retry}",
     "Retries, by what is tried again.", "retry"},
}};

std::atomic<bool> is_read{false};

struct current_reader {
  std::mutex mutex;
  std::shared_ptr<metric_reader> reader;
};

/// Outlives every thread that measures.
current_reader& current() {
  static auto* const one = new current_reader;
  return *one;
}

}  // namespace

const std::array<metric_about, metric_count>& metrics_table() noexcept {
  return table;
}

void read_metrics(std::shared_ptr<metric_reader> reader) {
  auto& now = current();
  const std::lock_guard lock{now.mutex};
  is_read.store(reader != nullptr, std::memory_order_release);
  std::swap(now.reader, reader);
}

bool metrics_are_read() noexcept {
  return is_read.load(std::memory_order_acquire);
}

void measure(metric what, double value,
             std::initializer_list<metric_label> labels) noexcept {
  if (!metrics_are_read()) return;
  std::shared_ptr<metric_reader> reader;
  {
    auto& now = current();
    const std::lock_guard lock{now.mutex};
    reader = now.reader;
  }
  if (reader) reader->on(table[static_cast<std::size_t>(what)], value, labels);
}

}  // namespace riffle
