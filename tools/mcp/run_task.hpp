// SPDX-License-Identifier: MIT
#pragma once

// What Riffle itself has for clients of the protocol: a task that an agent
// works on, and the single tools that the configuration offers. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/mcp/rpc.hpp"
#include "tools/tool.hpp"

namespace riffle::mcp {

inline constexpr std::string_view run_task_name = "run_task";

/// As `tools/list` has it.
json run_task_tool();

struct task_end {
  std::string status{};  ///< completed, failed, cancelled
  std::string answer{};  ///< or why there is none
  std::string run{};
  std::string session{};
  std::uint32_t steps = 0;
  std::uint32_t tool_calls = 0;
  std::uint32_t denied = 0;  ///< of these
};
/// As `tools/call` has it.
json task_result(const task_end& x);
/// Of a task that never began.
json task_refusal(const std::string& why);

/// A tool of Riffle's as `tools/list` has it.
json offered_tool(const tools::tool_spec& x);

/// One call of it, as a plan (JSON): a run of its own, with all that holds for
/// a run's calls.
std::string plan_of_call(const std::string& tool, const json& arguments);

/// A picture or a file that a call shows.
struct shown_file {
  std::string name{};
  std::string type{};    ///< MIME
  std::string digest{};  ///< SHA-256
  std::string bytes{};
};

struct call_end {
  bool good = false;
  std::string text{};  ///< what a model is told; of a failed call also why
  std::vector<shown_file> files{};
  /// The resource that has all of its output; empty: `text` does, or nobody
  /// may read it.
  std::string output{};
  std::uint64_t output_bytes = 0;
};
/// As `tools/call` has it: text, pictures, files, a link to the rest.
json call_result(const call_end& x);

/// For clients of versions before `resource_link`: without these.
json without_links(json result);

/// `riffle://outputs/CALL` and the like; ids are escaped.
std::string output_uri(const std::string& call);
std::string session_uri(const std::string& session);
/// A session as `resources/list` has it.
json session_resource(const std::string& session, const std::string& title);
/// The id in it; nothing: it is none of these.
std::optional<std::string> id_in(std::string_view uri, std::string_view kind);
/// As `resources/templates/list` has them.
json uri_templates();

/// The text of an output that may be long: the first `most` bytes, and that it
/// goes on.
std::string first_part(std::string text, std::uint64_t whole, std::size_t most);

/// What a client is told of an event, by its line; empty: nothing. Steps,
/// calls, their progress and what waits for a person are told.
std::string task_news(std::string_view type, std::string_view line);

/// Whether an event is the end of a call that was denied.
bool is_denial(std::string_view type, std::string_view line);

}  // namespace riffle::mcp
