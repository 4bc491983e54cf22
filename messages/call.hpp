// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/attachment.hpp"
#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "messages/time.hpp"

namespace riffle {

/// What a tool does to the world.
enum class effect : std::uint8_t { read_only, mutating };

/// How a call ended (`outcome` of a `tool_result` event).
enum class outcome : std::uint8_t {
  ok,
  failed,
  denied,
  skipped,
  cancelled,
  interrupted,
  timed_out,
};

std::string_view to_string(effect x) noexcept;
std::string_view to_string(outcome x) noexcept;
std::optional<effect> parse_effect(std::string_view text) noexcept;
std::optional<outcome> parse_outcome(std::string_view text) noexcept;

/// How a call may be run; resolved from configuration when it is parsed.
/// A zero duration means: no such limit.
struct call_limits {
  duration timeout{};        ///< hard limit of one attempt
  duration idle_timeout{};   ///< longest silence of one attempt
  duration queue_timeout{};  ///< longest wait for a worker slot
  std::uint32_t attempts = 1;
  std::int32_t priority = 0;

  bool operator==(const call_limits&) const = default;
};

/// One call that the model asked for, complete and classified.
struct tool_call {
  call_id id{};
  std::string provider_id{};  ///< what the model sent; goes back to it only
  std::string tool{};
  std::string title{};  ///< what a person reads, e.g. "Reading notes.txt"
  /// A JSON object, compact. Empty if it could not be parsed; then
  /// `arguments_text` holds what the model sent.
  std::string arguments{};
  std::string arguments_text{};
  /// What the model sent, canonical, if the person who approved the call
  /// changed its arguments; else empty.
  std::string edited_from{};
  effect eff = effect::mutating;
  bool idempotent = false;
  /// Handled by the orchestrator itself: `complete`, `seek_approval`,
  /// `manage_plan`. Never goes to a worker.
  bool control = false;
  bool needs_approval = false;
  std::uint32_t step = 0;
  std::uint32_t index = 0;  ///< place in the model's order within the step
  /// What it touches; empty for a mutating call: everything.
  std::vector<std::string> keys{};
  call_limits limits{};
  /// Set if rules or a person judge where the call leads: the place that was
  /// judged last, relative to the workspace; "" is one that is not known. It is
  /// judged anew when the call begins, and the tool acts there or nowhere.
  std::optional<std::string> judged{};
  /// Set if the call can never begin (unknown tool, invalid arguments, cut
  /// off): it settles with this error, as `failed` or `skipped`.
  std::optional<error> rejection{};
  /// What the preview was made from that a person approved
  /// (tools::call_preview): the call acts on nothing else. Empty: nobody saw
  /// one.
  std::string basis = {};
  /// Name of the node that has it; empty: this process.
  std::string node = {};

  bool operator==(const tool_call&) const = default;
};

/// What a call is about, for the rules of the configuration: the command of
/// `bash`, the place of file tools and searches, the URL of `fetch`, else the
/// arguments.
struct rule_subject {
  std::string text{};
  bool shell = false;  ///< a shell reads the text
  bool known = true;   ///< false: nobody can tell before it runs
  bool place =
      false;  ///< a place in the workspace: what leads there may change

  bool operator==(const rule_subject&) const = default;
};

/// What a call may give the model to look at beside its text.
struct taken_files {
  std::vector<std::string> types{};  ///< MIME; empty: no file at all
  std::uint64_t most_bytes = 0;      ///< of one file

  bool operator==(const taken_files&) const = default;
};

/// A picture or a file that a call gives the model to look at.
struct result_file {
  attachment about{};
  std::string bytes{};

  bool operator==(const result_file&) const = default;
};

/// What a tool gave back, or why it has nothing to give.
struct call_result {
  outcome how = outcome::ok;
  std::string output{};        ///< the whole, any size
  std::optional<error> err{};  ///< set unless `how` is `ok`
  std::string metadata{};      ///< a JSON object, or empty
  duration took{};             ///< of the last attempt
  std::uint32_t attempts = 0;  ///< 0: it never began
  std::vector<result_file> files{};

  bool operator==(const call_result&) const = default;
};

/// One report of a running tool. The newest wins when reports must be dropped.
struct tool_progress_report {
  std::string message{};
  std::optional<double> progress{};
  std::optional<double> total{};
  std::string stream{};  ///< "stdout", "stderr", or empty
  /// Reports that this one stands for beside itself.
  std::uint64_t coalesced = 0;

  bool operator==(const tool_progress_report&) const = default;
};

}  // namespace riffle
