// SPDX-License-Identifier: MIT
#pragma once

// The answer to `tools/call` of the Model Context Protocol: what comes of a
// run, as progress and a result.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/http/message.hpp"
#include "runtime/service/run_end.hpp"
#include "runtime/service/single_call.hpp"
#include "runtime/storage/records.hpp"
#include "tools/mcp/serving.hpp"

namespace riffle::http {

struct mcp_call {
  /// It has begun the call, as its only one.
  mcp::serving_core core;
  std::uint64_t key = 0;
  bool streams = true;  ///< false: one JSON text at the end
  run_id run{};
  session_id session{};
  bool single = false;  ///< a tool alone, and its run is a plan
  /// What its client is told, later, on the I/O thread.
  std::function<void(service::single_call_end,
                     std::function<void(mcp::call_end)> to)>
      read_told{};
  /// The client went away before the end.
  std::function<void()> on_gone{};
  /// Does `work` on a thread that may take its time, then `then` on the I/O
  /// thread, which is everybody's; null: both at once.
  std::function<void(std::function<void()> work, std::function<void()> then)>
      aside{};
};

/// Reads the run's lines from `lines`, which follows it to its end.
class mcp_source final : public body_source,
                         public std::enable_shared_from_this<mcp_source> {
 public:
  mcp_source(std::shared_ptr<body_source> lines, mcp_call what)
      : lines_{std::move(lines)}, what_{std::move(what)} {}
  ~mcp_source() override;
  mcp_source(const mcp_source&) = delete;
  mcp_source& operator=(const mcp_source&) = delete;

  void begin(std::function<void()> wake) override;
  std::shared_ptr<const std::string> next() override;
  [[nodiscard]] bool ended() const override { return done_ && ready_.empty(); }
  [[nodiscard]] std::string_view heartbeat() const override;

 private:
  void take(const std::shared_ptr<const std::string>& piece, std::string& out);
  void read(std::string_view lines, bool last, std::string& out);
  void tell(std::string_view lines, std::string& out);
  void count_denied(std::string_view lines);
  void on_end(std::string& out);
  void end_with(const service::run_end& x, std::string& out);
  [[nodiscard]] mcp::json refusal(const std::string& why) const;
  void finish(mcp::json result, std::string& out);
  void write(const mcp::serving_effects& all, std::string& out) const;

  const std::shared_ptr<body_source> lines_;
  mcp_call what_;
  /// The last lines: the answer may end there.
  std::shared_ptr<const std::string> before_;
  std::optional<expected<service::run_end>> end_;
  std::function<void()> wake_;
  std::string ready_;   ///< what was read aside, or the end
  bool waits_ = false;  ///< for what is read; `core` and `ready_` are not ours
  double count_ = 0;
  std::uint32_t denied_ = 0;  ///< calls of a task
  bool done_ = false;
};

}  // namespace riffle::http
