// SPDX-License-Identifier: MIT
#include "runtime/base/metrics.hpp"

#include <atomic>
#include <mutex>
#include <utility>

namespace riffle {

namespace {

namespace instruments {

/// `n` bounds, each `factor` times the one before.
template <std::size_t n>
constexpr std::array<double, n> grown(double first, double factor) {
  std::array<double, n> out{};
  for (auto& x : out) {
    x = first;
    first *= factor;
  }
  return out;
}

// OpenTelemetry's advice for generative AI (semantic-conventions-genai) …
constexpr auto operations = grown<14>(0.01, 2);
constexpr auto tokens = grown<14>(1, 4);
constexpr auto agents = grown<13>(0.1, 2);
constexpr std::array<double, 11> workflows{1,   5,   10,   30,   60,  120,
                                           300, 600, 1800, 3600, 7200};
// … for the Model Context Protocol …
constexpr std::array<double, 14> mcp{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1,
                                     2,    5,    10,   30,  60,  120, 300};
// … for HTTP …
constexpr std::array<double, 14> requests{
    0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10};
// … and ours: from a tenth of a millisecond to a minute and a half.
constexpr auto waits = grown<14>(0.0001, 3);

using enum metric;
using enum metric_kind;

constexpr std::array<metric_about, metric_count> table{{
    {tool_duration, "gen_ai.execute_tool.duration", histogram, "s",
     "Time of a tool call, with its attempts.", "tool_result", operations},
    {run_duration, "gen_ai.invoke_agent.duration", histogram, "s",
     "Time of a run of an agent.", "run_finished", agents},
    {plan_duration, "gen_ai.workflow.duration", histogram, "s",
     "Time of a plan.", "plan_finished", workflows},
    {plan_step_duration, "riffle.plan.step.duration", histogram, "s",
     "Time of a step of a plan.", "plan_step_finished", operations},
    {chat_duration, "gen_ai.client.operation.duration", histogram, "s",
     "Time of a request to a model.", "stream consumer", operations},
    {chat_first_chunk, "gen_ai.client.operation.time_to_first_chunk", histogram,
     "s", "Time to the first part of a model's answer.", "stream consumer",
     operations},
    {chat_next_chunk, "gen_ai.client.operation.time_per_output_chunk",
     histogram, "s",
     "Time from a part of a model's answer to the next; parts that come "
     "together count as one.",
     "stream consumer", operations},
    {chat_tokens, "gen_ai.client.token.usage", histogram, "{token}",
     "Tokens of a request to a model, by gen_ai.token.type.", "stream consumer",
     tokens},
    {mcp_operation, "mcp.client.operation.duration", histogram, "s",
     "Time of a request to a server of the Model Context Protocol.",
     "mcp server", mcp},
    {mcp_session, "mcp.client.session.duration", histogram, "s",
     "Time that a connection to such a server was in use.", "mcp server", mcp},
    {retries, "riffle.retries", counter, "{retry}",
     "Retries, by what is tried again.", "retry"},
    {queue_wait, "riffle.call.queue_wait", histogram, "s",
     "Time from when a call could begin (its arguments were complete, or it "
     "was approved) to its start.",
     "dispatcher", waits},
    {head_start, "riffle.call.head_start", histogram, "s",
     "How long before the end of its turn a call began.", "dispatcher", waits},
    {approval_wait, "riffle.approval.wait", histogram, "s",
     "Time from a question to its answer, by what that was.",
     "approval_resolved", agents},
    {coalesced, "riffle.progress.coalesced", counter, "{report}",
     "Reports of progress that were merged into later ones.", "tool_progress"},
    {restarts, "riffle.worker.restarts", counter, "{restart}",
     "Tool workers that died and were replaced.", "tool pool"},
    {open_breakers, "riffle.breaker.open", up_down, "{tool}",
     "Tools that are out of service since their workers died.", "tool pool"},
    {subscribers, "riffle.subscribers", up_down, "{subscriber}",
     "Readers of the live events of runs.", "publisher"},
    {commit_duration, "riffle.commit.duration", histogram, "s",
     "Time from a unit's way to the journal until it is stored.", "publisher",
     waits},
    {model_stalls, "riffle.model.stalls", counter, "{stall}",
     "Times that a model's stream had to wait for what it brought to be "
     "stored.",
     "model transport"},
    {suspended_runs, "riffle.run.suspended", up_down, "{run}",
     "Runs that wait since the journal did not take what they wrote.",
     "journal"},
    {http_duration, "http.server.request.duration", histogram, "s",
     "Time from a request's header to that of its answer.", "server", requests},
    {nodes, "riffle.nodes", up_down, "{node}",
     "Processes of the cluster that have joined and are heard.",
     "cluster gate"},
    {node_events, "riffle.node.events", counter, "{event}",
     "What became of them, by riffle.node.event: joined, fenced (silent), "
     "left (it said that it ends), lost, drained, late_answer (dropped).",
     "cluster gate"},
}};

}  // namespace instruments

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
  return instruments::table;
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
  if (reader)
    reader->on(instruments::table[static_cast<std::size_t>(what)], value,
               labels);
}

}  // namespace riffle
