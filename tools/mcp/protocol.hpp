// SPDX-License-Identifier: MIT
#pragma once

// What the two eras of the Model Context Protocol say: versions, the first
// words, lists of tools. Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"
#include "tools/mcp/rpc.hpp"

namespace riffle::mcp {

/// modern: 2026-07-28, each request stands alone. legacy: 2025-11-25 and
/// before, which begin with `initialize`.
enum class era : std::uint8_t { modern, legacy };

std::string_view to_string(era x) noexcept;
std::optional<era> parse_era(std::string_view text) noexcept;

inline constexpr std::string_view modern_version = "2026-07-28";
inline constexpr std::string_view legacy_version = "2025-11-25";

/// Whether this client speaks the version, of whichever era.
bool speaks(std::string_view version) noexcept;
/// From 2025-06-18 the header `MCP-Protocol-Version` is sent.
bool has_version_header(std::string_view version) noexcept;

/// What this client says of itself.
struct identity {
  std::string name = "riffle";
  std::string version{};
  std::vector<std::string> roots{};  ///< folders; empty: it has no roots
  bool fills_forms = false;          ///< elicitation: with the form's defaults
};

json capabilities_of(const identity& me);
json initialize_params(const identity& me);

/// Adds what each request of the modern era carries. `trace`: a traceparent, or
/// empty.
json with_meta(json params, const identity& me, std::string_view version,
               std::string_view trace = {});

/// The answer to a request of the server.
std::variant<json, rpc_error> respond(const identity& me,
                                      const std::string& method,
                                      const json& params);

/// The defaults of a form that `elicitation/create` asks for.
json defaults_of_form(const json& schema);

/// What a server said about itself.
struct introduction {
  era speaks = era::legacy;
  std::string version{};  ///< of the protocol
  std::string name{};
  std::string server_version{};
  std::string instructions{};
  bool has_tools = false;
  bool has_resources = false;
  bool has_prompts = false;
  bool tells_changes = false;  ///< of its list of tools
};

/// What the answer to `server/discover` means; nothing: the server is of the
/// other era, ask `initialize`.
std::optional<expected<introduction>> judge_discovery(const answer& x);
expected<introduction> judge_initialize(const answer& x);

/// Templates of URIs on the first page of `resources/templates/list`, some of
/// them: texts without blanks.
std::vector<std::string> read_templates(const json& page);

/// One tool, as its server describes it, cut to limits.
struct tool_def {
  std::string name{};
  std::string title{};
  std::string description{};
  std::string input_schema{};   ///< JSON Schema of an object
  std::string output_schema{};  ///< or empty
  std::optional<bool> read_only{};
  std::optional<bool> destructive{};
  std::optional<bool> idempotent{};
  std::optional<bool> open_world{};
  bool needs_task = false;
  /// Names of properties whose values go into headers: property -> header.
  std::map<std::string, std::string> headers{};

  bool operator==(const tool_def&) const = default;
};

/// SHA-256 of all that a model or a person reads of a tool, and of its schemas.
std::string digest_of(const tool_def& x);

/// Puts pages of a list together, and ends whatever the server says.
class page_reader {
 public:
  static constexpr std::size_t most_pages = 200;
  static constexpr std::size_t most_items = 5000;
  static constexpr std::size_t most_bytes = 32u << 20;

  explicit page_reader(std::string key) : key_{std::move(key)} {}

  /// Takes a page, and of each item what is read of one; the cursor of the next
  /// one, or nothing. Fails when a cursor comes twice, or there is too much.
  expected<std::optional<std::string>> on_page(const json& result);

  [[nodiscard]] const std::vector<json>& items() const noexcept {
    return items_;
  }

 private:
  std::string key_;
  std::vector<json> items_;
  std::set<std::string> seen_;
  std::size_t pages_ = 0;
  std::size_t bytes_ = 0;
};

/// A tool of a list. Fails, saying why, when it is none that can be called.
expected<tool_def> read_tool(const json& x);

/// All tools of a list; names that come twice and what is no tool are left out,
/// and told in `problems`.
std::vector<tool_def> read_tools(const std::vector<json>& items,
                                 std::vector<std::string>& problems);

}  // namespace riffle::mcp
