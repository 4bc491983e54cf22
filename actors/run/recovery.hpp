// SPDX-License-Identifier: MIT
#pragma once

// From records to where a run goes on. Pure.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/control_tools.hpp"
#include "actors/core/dispatch_queue.hpp"
#include "actors/core/loop_detector.hpp"
#include "actors/core/step_effects.hpp"
#include "runtime/config/config.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle {

/// The arguments that the model sent.
inline const std::string& asked_for(const tool_call& x) {
  return x.edited_from.empty() ? x.arguments : x.edited_from;
}

/// Where an interrupted run goes on.
struct recovery_plan {
  core::run_progress progress;
  /// Of the step's committed assistant message; empty if there is none.
  std::vector<core::asked_call> calls;
  std::vector<core::settled_call> settled;
  std::string text;
  std::vector<core::restored_call> open;
  std::vector<core::finished_read> finished;
  std::uint32_t calls_begun = 0;  ///< of the run, control tools left out
  /// Of the open calls.
  std::map<call_id, std::vector<storage::attempt_record>> attempts;
};

/// `rule`: of the run's answer.
recovery_plan plan_recovery(const storage::run_snapshot& snapshot,
                            const config::tools_config& settings,
                            const core::answer_rule& rule = {});

/// A settled call as the step machine sees it, without its answer.
core::settled_call to_settled(const storage::call_record& x,
                              const config::tools_config& settings);

/// The calls of the run's steps before the current one, for the loop detector.
std::vector<std::vector<core::observed_call>> earlier_steps(
    const storage::run_snapshot& snapshot,
    const config::tools_config& settings);

/// What the model is told of an answer that was cut by the end of its run.
std::string cut_note(const error& why);

/// The session's plan, as its last run left it.
std::string session_plan(const storage::session_snapshot& session);
/// Its phase, if a run or a model has chosen one; else empty.
std::string session_phase(const storage::session_snapshot& session);

/// The task of a run that sums its session up, and its context.
inline constexpr std::string_view sum_up_task = "/compact";
inline constexpr std::string_view sum_up_context =
    "By that the user asks you: sum up this conversation for somebody who goes "
    "on with it and sees nothing else: what was asked, what was decided and "
    "why, which files were changed and how, what is open. Call no tools.";

/// Such a run: `told` is its context, or the text that the model got.
inline bool sums_up(std::string_view task, std::string_view told) {
  return task == sum_up_task && told.find(sum_up_context) != told.npos;
}

/// What a model is told in the place of all that was said in these runs.
struct summed_up_runs {
  std::string text;
  std::set<run_id> runs;

  bool operator==(const summed_up_runs&) const = default;
};

/// By the newest run that sums up and has ended well, with words. From records
/// alone: so it is the same behind any crash.
std::optional<summed_up_runs> session_summary_of(
    const storage::session_snapshot& session);

}  // namespace riffle
