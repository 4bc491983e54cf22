// SPDX-License-Identifier: MIT
#pragma once

// A look at a call that a person decides about: what its tool is, what it would
// do, and whether it was approved once and for all.

#include <filesystem>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "messages/call.hpp"
#include "runtime/storage/journal.hpp"
#include "tools/tool.hpp"

namespace riffle {

struct run_spec;

struct call_inspection {
  /// Why nothing is known: then nobody is asked, and nothing acts.
  std::optional<error> failure;
  /// So, since it may not run whoever agrees to it: a question that is open
  /// ends.
  bool refused = false;
  std::string definition;  ///< SHA-256
  tools::call_preview preview;
  /// The preview names nothing that it was made from: what the call works on
  /// may change, and nobody could tell.
  bool blind = true;
  /// No rule of the configuration wants this call to be asked for each time.
  bool can_always = false;
  std::string pattern;  ///< that "always" offers, or empty
  std::optional<storage::grant_record> granted;  ///< covers the call
};

/// A call with the arguments that a person approved instead of its own.
struct changed_call {
  expected<tool_call> call;  ///< or why it cannot be
  call_inspection seen;      ///< of that call
};

/// What a person is shown of a call, at most as much as is stored. What is
/// compared later is all of it: `basis` is empty only if the tool says nothing
/// of what the call would do. Blocks.
expected<tools::call_preview> preview_for_person(
    const tools::tool& tool, const nlohmann::json& arguments,
    const std::filesystem::path& workspace);

/// Blocks (files, the journal): on a look's thread. A grant that cannot be read
/// does not count: somebody is asked. `grants`: whether to look for them.
call_inspection inspect_call(const run_spec& spec, const tool_call& call,
                             bool grants);

/// The same of the call with these arguments, which were approved.
changed_call inspect_changed(const run_spec& spec, const tool_call& call,
                             const std::string& arguments);

/// Whether it covers a call of this tool, which was seen so. "This very call"
/// is one that would act on the same, too.
bool covers(const storage::grant_record& grant, const std::string& folder,
            const call_inspection& seen, const tool_call& call,
            const rule_subject& subject);

}  // namespace riffle
