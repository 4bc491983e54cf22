// SPDX-License-Identifier: MIT
#pragma once

// The port of everything that a model can call. No actors here: a tool is
// plain code that blocks, runs on the blocking executor, and obeys a stop
// token.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "messages/call.hpp"
#include "tools/lease.hpp"
#include "tools/session_state.hpp"

namespace riffle::tools {

/// What a tool is, for the model and for the dispatcher.
struct tool_spec {
  std::string name{};         ///< [A-Za-z0-9_-]{1,64}
  std::string description{};  ///< what the model reads
  std::string parameters{};   ///< JSON Schema of the arguments, an object
  effect eff = effect::mutating;
  bool idempotent = false;
  /// Runs other programs: the runtime gives it a lock file and waits for it
  /// before it settles a call of a runtime that died.
  bool guarded = false;
  /// A call that changes something is asked about, also where the
  /// configuration of this process would not ask: that of its node does.
  bool always_asks = false;
  /// Arguments that only say something of the call (why it is made): they are
  /// checked, then left out of it, so that calls that differ in nothing else
  /// are the same for approvals and for the search for loops.
  std::vector<std::string> remarks{};
};

/// What a call would do, for a person who decides about it.
struct call_preview {
  call_preview() = default;
  call_preview(std::string shown, std::string from = {})   // NOLINT: a text is
      : text{std::move(shown)}, basis{std::move(from)} {}  // a preview
  call_preview(const char* shown) : text{shown} {}         // NOLINT

  /// Bounded valid UTF-8, may have many lines.
  std::string text;
  /// What it was made from, e.g. a digest of a file's content: the call runs
  /// only while this is the same. Empty: the text itself is compared.
  std::string basis;
  /// Why the call can only fail as things are now: then it fails with this, and
  /// nobody is asked about it. Unset also where the model may not know why.
  std::optional<error> impossible{};
};

/// What a call of a tool that changes things would only read.
struct read_claim {
  std::vector<rule_subject> places{};
  /// Also names and content that no place tells.
  bool sweeps = false;
};

/// What a running tool may use. Owned by the caller of `run`, valid during it.
struct tool_context {
  call_id call{};
  std::uint32_t attempt = 1;
  /// Asks the tool to end: cancelled, or out of time. A tool looks at it at
  /// least every 100 ms and then returns soon; what it returns is then only
  /// logged.
  std::stop_token stop{};
  /// Reports progress. Never blocks; drops older reports when the run cannot
  /// take more (the newest wins). Thread-safe.
  std::function<void(tool_progress_report)> progress{};
  /// `call_preview::basis` of what a person approved: a tool that gives one
  /// compares it with what it acts on, and acts on nothing else. Empty: nobody
  /// saw a preview.
  std::string basis = {};
  /// Root of what file tools may touch, absolute.
  std::filesystem::path workspace{};
  /// For tools whose subject is a place: the one that was judged, where the
  /// call may act and nowhere else. "": what it leads to is not known, so a
  /// tool that finds a place there does not act. Nothing: any place will do.
  std::optional<std::string> judged{};
  /// For guarded tools: the lock file that lives as long as any process of
  /// this attempt. Empty: no crash protection asked for (library, tests).
  std::filesystem::path guard_lock{};
  /// How long a cancelled process may take to end by itself after SIGTERM.
  duration kill_grace = std::chrono::seconds{2};
  /// Where the whole of a longer output goes; empty: nowhere.
  std::filesystem::path output_file{};
  /// Small values that the session keeps: get, set, has, all. What a call
  /// sets is stored with its result, if it ends well. Never null.
  std::shared_ptr<call_state> state = std::make_shared<call_state>();
  /// Most bytes of output worth keeping in memory.
  std::size_t output_cap = 16u << 20;
  /// What the model takes beside text.
  taken_files files = {};
  /// What processes that it starts live by; null: nothing.
  lease_ptr lease = {};
};

/// What `run` gives back. `err` set: the model is told of a failure it can
/// react to (outcome `failed`, or `timed_out` for errc::timeout).
struct tool_output {
  std::string text{};
  std::optional<error> err{};
  std::string metadata{};  ///< a JSON object, or empty
  /// With `err`: the call did not act, for what it was judged by has changed;
  /// it is judged again.
  bool moved = false;
  /// What the model is shown beside the text: what `tool_context::files` takes.
  std::vector<result_file> files = {};
  /// With `err`: what ran the call broke, and whether it acted is not known:
  /// it is tried again if it may be, else it is `interrupted`.
  bool lost = false;
};

/// One tool. Stateless between calls or thread-safe: `run` is called from
/// several threads at once.
class tool {
 public:
  virtual ~tool() = default;

  [[nodiscard]] virtual const tool_spec& spec() const noexcept = 0;

  /// What a person reads while it runs: "Reading notes.txt".
  [[nodiscard]] virtual std::string title(
      const nlohmann::json& arguments) const = 0;

  /// What the call touches: keys that overlap make calls wait for each other.
  /// A key is a path or any text; "/a" covers "/a/b". Default: none
  /// (a read-only call conflicts with no key, a mutating one with all).
  [[nodiscard]] virtual std::vector<std::string> keys(
      const nlohmann::json& arguments,
      const std::filesystem::path& workspace) const;

  /// What rules of the configuration are matched with. Default: the arguments
  /// as compact JSON with sorted keys. `arguments` are valid for the schema.
  [[nodiscard]] virtual rule_subject subject(
      const nlohmann::json& arguments,
      const std::filesystem::path& workspace) const;

  /// What the call would do, for a person who decides about it: a diff, a
  /// command. Acts on nothing; may read files, so it blocks for a moment.
  /// Made once more before an approved call runs: whoever wants it to be the
  /// same must not put the time of day into it. Default: empty, nothing to
  /// show beside the arguments. `arguments` are valid for the schema.
  [[nodiscard]] virtual call_preview preview(
      const nlohmann::json& arguments,
      const std::filesystem::path& workspace) const;

  /// Set if this call surely changes nothing, though the tool may: then it is
  /// treated as one that reads, and runs with the text of its subject as
  /// `tool_context::judged`. May look at files. Default: nothing.
  [[nodiscard]] virtual std::optional<read_claim> only_reads(
      const nlohmann::json& arguments,
      const std::filesystem::path& workspace) const;

  /// What an approval of its calls relies on beside their arguments, as text:
  /// it changes when the tool is another one. May read files, so it blocks.
  /// Default: the spec.
  [[nodiscard]] virtual std::string definition() const;

  /// Runs one call. `arguments` are valid for the schema. Blocks. An
  /// exception costs the worker; expected failures go to `err`.
  virtual tool_output run(const nlohmann::json& arguments,
                          tool_context& context) = 0;
};

using tool_ptr = std::shared_ptr<tool>;

}  // namespace riffle::tools
