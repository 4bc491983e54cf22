// SPDX-License-Identifier: MIT
#pragma once

// Use cases of the prompts that servers of the Model Context Protocol offer.

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/service/requests.hpp"
#include "tools/mcp/servers.hpp"

namespace riffle::service {

/// Thread-safe; its functions block while servers start and answer.
class prompts {
 public:
  /// Null: there are no servers.
  explicit prompts(std::shared_ptr<mcp::servers> servers)
      : servers_{std::move(servers)} {}

  /// Of all servers, by their names; they are started. `problems` gets a line
  /// for each that does not answer, but for a stop.
  [[nodiscard]] std::vector<server_prompt> list(
      std::vector<std::string>& problems,
      const std::stop_token& stop = {}) const;

  /// The text of "SERVER__PROMPT" with what a person typed behind it. Fails
  /// with `not_found`, `invalid_arguments`, `tool_unavailable` (the server is
  /// not there), `tool_execution_error` (it refuses) and `cancelled`.
  [[nodiscard]] expected<std::string> text(
      const std::string& name, std::string_view words,
      const std::stop_token& stop = {}) const;

 private:
  std::shared_ptr<mcp::servers> servers_;
};

}  // namespace riffle::service
