// SPDX-License-Identifier: MIT
#pragma once

// A server as people and clients are told of it, in this process and by others.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tools/mcp/server.hpp"

namespace riffle::mcp {

/// What a person has looked at of a server's tools.
struct review {
  bool approved = false;
  std::size_t held = 0;  ///< tools that are not as they were approved
  /// What it says of its use is not what was read, so no model is told of it.
  bool other_advice = false;
};

struct server_view {
  std::string name{};
  std::string of{};  ///< digest of what it is; see `digest_of_server`
  std::string state = "idle";
  std::string era{};  ///< empty, as the next three: it never answered
  std::string version{};
  std::string server{};
  std::string server_version{};
  std::optional<std::size_t> tools{};
  std::string tokens{};  ///< how they are had; empty: it has none
  review seen{};
  std::uint32_t restarts = 0;
  std::string last_error{};
  int process = 0;  ///< whose it is, for people; 0: of who tells it

  [[nodiscard]] bool is_ready() const noexcept;
  [[nodiscard]] bool is_used() const noexcept;  ///< somebody has wanted it
};

/// Of its command or URL (`server_setup::identity`).
std::string digest_of_server(std::string_view identity);

server_view view_of(const std::string& name, const server_status& now,
                    const review& seen);

/// What is not known of it is left out, and so is `of`.
nlohmann::ordered_json to_json(const server_view& x);

/// Those of a process, for others to read: with `of`.
std::string board_text(const std::vector<server_view>& all);
/// Nothing: that is no such text, or not the whole of one.
std::optional<std::vector<server_view>> read_board(const std::string& text);

}  // namespace riffle::mcp
