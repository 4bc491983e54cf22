// SPDX-License-Identifier: MIT
#pragma once

// What people and programs ask of a runtime, and what they are told of it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "messages/decision.hpp"
#include "messages/ids.hpp"
#include "messages/time.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle {

/// A picture or a file (png, jpeg, gif, webp, pdf) that a model is shown.
struct attachment_source {
  std::filesystem::path file{};  ///< read when its run starts
  std::string bytes{};           ///< instead of a file
  std::string name{};            ///< for the model; empty: of the file
};

/// Who asked for a run, for adapters that serve others. Kept with it.
struct request_origin {
  std::string by{};      ///< "server:NAME" of a token; empty: this process
  std::string digest{};  ///< of what was asked: the same request comes again
  /// A session that another one began is not there for it.
  bool own = false;

  bool operator==(const request_origin&) const = default;
};

/// A task to run.
struct run_request {
  std::string task{};
  std::optional<session_id> session{};  ///< nothing: a new one
  std::string agent = "default";
  std::optional<std::string>
      model{};            ///< of the configuration; over the agent's
  std::string context{};  ///< told to the model behind the task
  /// Told to the model behind the agent's own prompt, of the whole run: where
  /// it works, what the project says. Kept with the run.
  std::string surroundings{};
  /// The phase that the session enters with this run; empty: it stays in that
  /// where it is, at first the agent's.
  std::string phase{};
  /// JSON Schema of an object: the answer is JSON of this form, or the run
  /// fails. Over the agent's own; empty: as that says.
  std::string response_schema{};
  /// Shown to the model with the task; [attachments] has the limits.
  std::vector<attachment_source> attachments = {};
  std::optional<std::uint32_t> max_steps{};  ///< over the agent's own
  duration timeout{};                        ///< of the whole run; 0: none
  approve approval = approve::none;
  /// Where tools work, absolute; empty: `tools.workspace`. Tools of nodes and
  /// of MCP servers have their own. `invalid_request`: it is no folder.
  std::filesystem::path workspace = {};
  /// Nothing: a new one. `invalid_request` if there is a run with it.
  std::optional<run_id> id = {};
  request_origin origin = {};
  /// Cancels the run when its source is asked to stop; one that was asked
  /// before the start is on record, and nothing of it begins.
  std::stop_token stop{};
};

/// A plan to execute: steps, one after the other.
struct plan_request {
  std::string plan{};         ///< TOML or JSON
  std::string name = "plan";  ///< of the text, in messages
  /// `session`: of the runs of its steps; `timeout`: over the plan's own;
  /// `task` is not used; all else as for each of these runs.
  run_request with{};
};

/// What a plan does when a step of it fails.
enum class step_failure : std::uint8_t {
  stop,   ///< it ends
  go_on,  ///< with the next step: "continue"
  retry,  ///< the step is tried again, up to its attempts
};

/// What may be chosen anew when an interrupted run is finished; what is not
/// set stays as the run was started.
struct resume_options {
  std::optional<approve> approval{};
  std::optional<std::uint32_t> max_steps{};
  duration timeout{};  ///< 0: as it was
  std::optional<std::string> model{};
  std::stop_token stop{};  ///< as in `run_request`
  /// Of a plan: what the step that was open does when it fails, also because
  /// the crash cut it, in the place of its own `on_error`.
  std::optional<step_failure> on_error{};
};

/// How many tasks a volley may have: each takes some KiB until its end.
inline constexpr std::size_t most_volley_tasks = 100'000;

/// What all tasks of a volley are told: held once, and stored once with the
/// volley, however many they are.
struct shared_texts {
  std::string context{};  ///< of a task that has none of its own
  std::string given{};    ///< told to each of them, behind its context
  /// By agent: of a task that has none of its own.
  std::map<std::string, std::string> surroundings{};
};

/// Several tasks: each is a run, as many at once as there are workers.
struct volley_request {
  /// Each has a session of its own, unless it names one; tasks of the same
  /// session run one after the other, in this order. Their `stop` has no
  /// effect.
  std::vector<run_request> tasks{};
  std::uint32_t workers = 4;
  /// Further runs of a task whose run failed by what may pass (`retryable`).
  std::uint32_t max_retries = 0;
  bool fail_fast = false;  ///< the first task that fails ends the others
  std::string id = {};     ///< empty: a new one
  shared_texts shared = {};
};

enum class task_status : std::uint8_t {
  completed,
  failed,
  cancelled,
  not_run,  ///< the volley ended before
};

std::string_view to_string(task_status x) noexcept;

/// What came of a task of a volley.
struct task_result {
  std::size_t task = 0;  ///< its place among the tasks, from 0
  task_status status = task_status::not_run;
  std::uint32_t attempts = 0;           ///< runs that it had
  std::optional<run_id> run{};          ///< the last one
  std::vector<run_id> runs{};           ///< all of them, in their order
  token_usage usage{};                  ///< of those that have ended, in sum
  std::optional<session_id> session{};  ///< nothing: it had no run
  std::optional<error> failure{};
  std::string answer{};  ///< of a completed run
};

/// A prompt of a server of the Model Context Protocol: a text that a person
/// sends to a model.
struct server_prompt {
  struct argument {
    std::string name{};
    std::string about{};
    bool required = false;
  };
  std::string name{};   ///< "files__review"
  std::string about{};  ///< as the server says it: not safe for a terminal
  std::vector<argument> arguments{};
};

/// A person's decision about a proposal.
struct decision {
  bool approved = false;
  std::string by = "user";  ///< who; events and the model are told
  std::string reason{};     ///< of a denial; the model is told
  /// Approves with these arguments (a JSON object) in the place of those of
  /// the proposal. The model is told which ones really ran.
  std::optional<std::string> arguments{};
  /// Approves further calls too; rules of the configuration that ask or deny
  /// stand above it. Calls that wait already are not decided by it: nobody was
  /// shown them. `runtime::grants` lists these, `runtime::revoke` takes one
  /// back.
  always_scope always = always_scope::none;
  /// With `always`: it counts in every session of the folder, also in later
  /// ones, and outlives its own.
  bool kept = false;
  /// `digest` of the proposal, or of the event, that the person was shown: a
  /// decision about anything else is `stale`. Empty: not checked.
  std::string digest{};
  /// With `arguments`: `changed_call_view::basis` of what the person was shown
  /// of them; if it is another one by now, it is `stale`. Empty: they are
  /// bound to what they act on when the decision is stored.
  std::string basis{};
};

/// What a proposal's call would do with other arguments.
struct changed_call_view {
  std::string arguments{};  ///< canonical
  std::string preview{};    ///< for a person; may be empty
  std::string basis{};      ///< changes with what it acts on; may be empty
};

/// What a list says of a session.
struct session_summary {
  session_id id{};
  std::size_t runs = 0;
  storage::run_record last{};  ///< the newest one
  /// It has not ended, and nobody works on it.
  bool interrupted = false;
  /// What a person called it, else its first task on one line.
  std::string title{};
};

/// What a call of `write` or `edit` that ended well did to a file.
struct file_change {
  run_id run{};
  call_id call{};
  std::string tool{};
  std::string path{};    ///< as the model wrote it
  std::string folder{};  ///< where the run worked; empty: not on record
  std::string diff{};
  bool cut = false;  ///< some of it is missing in the log
  std::uint64_t added = 0;
  std::uint64_t removed = 0;
  std::string before{};  ///< digest; empty: no file, or not on record
  std::string after{};   ///< digest; empty: not on record
  std::string node{};    ///< where it worked; empty: here
  std::string place{};   ///< where a link led it; empty: nowhere else

  bool operator==(const file_change&) const = default;
};

/// A call that may have changed files, too: nobody knows which.
struct other_call {
  run_id run{};
  std::string tool{};
  std::string title{};

  bool operator==(const other_call&) const = default;
};

/// What is on record of files that a session changed.
struct session_changes {
  std::vector<file_change> files{};  ///< in order
  std::vector<other_call> others{};
};

/// What was deleted.
struct removed_sessions {
  std::size_t sessions = 0;  ///< the records of volley and plan not counted
  std::size_t runs = 0;
  std::size_t kept = 0;  ///< sessions where something else has run too
};

/// The whole output of a call: a long one is in a file, else it is the text.
struct kept_output {
  std::filesystem::path file{};
  std::string text{};
};

/// The working directory of the process that started a run, where its tools'
/// relative paths begin; empty if that is not on record.
std::string folder_of(const storage::run_record& x);

/// Who asked for it, see `run_request`.
request_origin origin_of(const storage::run_record& x);

/// The volley that a run is a task of; empty: none.
std::string volley_of(const storage::run_record& x);

/// It carries out a step of a plan, and goes on with that.
bool is_of_plan(const storage::run_record& x);

/// The plan that a run is, or carries out a step of; empty: none.
std::string plan_of(const storage::run_record& x);

}  // namespace riffle
