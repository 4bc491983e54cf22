// SPDX-License-Identifier: MIT
#pragma once

// What is remembered of servers between processes: their era, and the tools
// that a person has looked at. One small file for each server.

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/error.hpp"
#include "tools/mcp/protocol.hpp"

namespace riffle::mcp {

struct approved_tool {
  std::string digest{};
  std::string shown{};  ///< see `shown_text`
  /// It was not listed at the start: its server adds it while it runs.
  bool late = false;

  bool operator==(const approved_tool&) const = default;
};

struct remembered {
  std::optional<era> speaks{};
  std::string identity{};  ///< of what it was remembered: its command or URL
  bool approved = false;   ///< a person has looked at its tools
  std::map<std::string, approved_tool> tools{};
  /// Tools that an approved server added while it ran, for a person to look at:
  /// another process of it does not list them.
  std::map<std::string, approved_tool> pending{};
  std::string instructions{};  ///< as a person has read them

  bool operator==(const remembered&) const = default;
};

/// Nothing that can be read: as if nothing were there.
remembered recall(const std::filesystem::path& folder,
                  const std::string& server);

/// Whole or not at all, mode 0600; the folder is made.
expected<void> remember(const std::filesystem::path& folder,
                        const std::string& server, const remembered& x);

/// What changes when another process writes it anew; empty: there is none.
std::string memory_stamp(const std::filesystem::path& folder,
                         const std::string& server);

/// Changes what is remembered, as it stands now: other processes of the data
/// folder remember things, too. `identity`: another one's is forgotten.
expected<void> change_memory(const std::filesystem::path& folder,
                             const std::string& server,
                             const std::string& identity,
                             const std::function<void(remembered&)>& change);

/// What a person must look at before a tool is used.
struct change {
  enum class what : std::uint8_t { added, changed, removed };
  what kind = what::added;
  std::string tool{};
  tool_def now{};
  approved_tool before{};
};

std::vector<change> changes(const remembered& before,
                            const std::vector<tool_def>& now);

approved_tool approval_of(const tool_def& x);

/// All that its digest is of, for a person, in lines: what a model reads of it,
/// and what it says of its effects.
std::string shown_text(const tool_def& x);

}  // namespace riffle::mcp
