// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tests/config/temp_folder.hpp"
#include "tests/support/time_scale.hpp"
#include "tools/mcp/call.hpp"
#include "tools/mcp/server.hpp"
#include "tools/mcp/stdio_link.hpp"

namespace riffle::testing {

/// A liar under supervision in a folder of its own.
struct liar_world {
  explicit liar_world(
      std::vector<std::string> words = {},
      const std::function<void(mcp::server_options&)>& change = {}) {
    mcp::server_options x;
    x.name = "liar";
    x.me = {"riffle", "1", {}, false};
    x.supervision.backoff = {std::chrono::milliseconds{10},
                             std::chrono::milliseconds{100}};
    x.supervision.intensity = 50;
    x.startup_timeout = scaled(std::chrono::seconds{20});
    x.ping_limit = std::chrono::milliseconds{300};
    mcp::stdio_options how;
    how.name = "liar";
    how.command = {RIFFLE_MCP_LIAR};
    how.command.insert(how.command.end(), words.begin(), words.end());
    how.folder = folder.path();
    how.environment = {"PATH=/usr/bin:/bin", "ONLY=this"};
    how.me = x.me;
    x.connect = [how](mcp::link_events events) {
      return mcp::open_stdio(how, std::move(events));
    };
    if (change) change(x);
    at.emplace(std::move(x));
  }

  tools::tool_output call(const std::string& tool,
                          mcp::json arguments = mcp::json::object(),
                          const std::string& digest = {}) {
    tools::tool_context context;
    context.call = call_id{"call_1"};
    context.stop = stop.get_token();
    context.files = files;
    context.progress = [this](tool_progress_report x) {
      const std::lock_guard lock{mutex};
      reports.push_back(std::move(x));
    };
    return mcp::call_tool(*at, tool, digest, arguments, context);
  }

  temp_folder folder;
  std::stop_source stop;
  taken_files files;
  std::mutex mutex;
  std::vector<tool_progress_report> reports;
  std::optional<mcp::server> at;
};

}  // namespace riffle::testing
