// SPDX-License-Identifier: MIT
#pragma once

// The seam for metrics: what is measured, under OpenTelemetry's names, and who
// reads it. No exporter lives here; without a reader a measurement costs one
// load of an atomic.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

namespace riffle {

/// What is measured. The places are in `metrics_table`.
enum class metric : std::uint8_t {
  tool_duration,
  run_duration,
  plan_duration,
  plan_step_duration,
  chat_duration,
  chat_first_chunk,
  chat_next_chunk,
  chat_tokens,
  mcp_operation,
  mcp_session,
  retries,
  queue_wait,
  head_start,
  approval_wait,
  coalesced,
  restarts,
  open_breakers,
  subscribers,
  commit_duration,
  model_stalls,
  suspended_runs,
  http_duration,
  nodes,
  node_events,
};

inline constexpr std::size_t metric_count =
    static_cast<std::size_t>(metric::node_events) + 1;

/// An `up_down` is a sum whose parts may be negative.
enum class metric_kind : std::uint8_t { histogram, counter, up_down };

/// As OpenTelemetry describes an instrument. Where its conventions for
/// generative AI have a name, it is theirs.
struct metric_about {
  metric what{};
  std::string_view name;
  metric_kind kind{};
  std::string_view unit;  ///< UCUM: "s", "{token}"
  std::string_view description;
  std::string_view place;  ///< the event, or the part, that it is taken from
  std::span<const double> buckets{};  ///< upper bounds, of a histogram
};

const std::array<metric_about, metric_count>& metrics_table() noexcept;

/// Keys of labels: all of them, so that a new version of OpenTelemetry's
/// conventions (which change still) is a change here and in the table.
namespace metric_key {
inline constexpr std::string_view operation = "gen_ai.operation.name";
inline constexpr std::string_view provider = "gen_ai.provider.name";
inline constexpr std::string_view request_model = "gen_ai.request.model";
inline constexpr std::string_view token_type = "gen_ai.token.type";
inline constexpr std::string_view agent = "gen_ai.agent.name";
inline constexpr std::string_view tool = "gen_ai.tool.name";
inline constexpr std::string_view server_address = "server.address";
inline constexpr std::string_view server_port = "server.port";
inline constexpr std::string_view error_type = "error.type";
inline constexpr std::string_view mcp_method = "mcp.method.name";
inline constexpr std::string_view mcp_version = "mcp.protocol.version";
inline constexpr std::string_view transport = "network.transport";
inline constexpr std::string_view http_method = "http.request.method";
inline constexpr std::string_view http_route = "http.route";
inline constexpr std::string_view http_status = "http.response.status_code";
// Ours, where there is no convention.
inline constexpr std::string_view mcp_server = "riffle.mcp.server";
inline constexpr std::string_view plan_step = "riffle.plan.step.id";
inline constexpr std::string_view retry_what = "riffle.retry.what";
inline constexpr std::string_view approval = "riffle.approval.outcome";
inline constexpr std::string_view node_event = "riffle.node.event";
inline constexpr std::string_view node_name = "riffle.node.name";
}  // namespace metric_key

/// `metric_key::tool`, "read"; an empty value: it is not set. Valid during the
/// call alone.
struct metric_label {
  std::string_view key;
  std::string_view value;
};

/// Called on any thread, several at once: must not block and must not throw.
class metric_reader {
 public:
  virtual ~metric_reader() = default;
  virtual void on(const metric_about& what, double value,
                  std::initializer_list<metric_label> labels) noexcept = 0;
};

/// The process's one reader from now on; null: nobody. A reader that is taken
/// away may still hear of what is being measured at that moment.
void read_metrics(std::shared_ptr<metric_reader> reader);

/// Whether somebody reads: worth asking before labels are put together.
bool metrics_are_read() noexcept;

void measure(metric what, double value,
             std::initializer_list<metric_label> labels) noexcept;

}  // namespace riffle
