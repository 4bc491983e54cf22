// SPDX-License-Identifier: MIT
#pragma once

// What people and programs ask of a runtime, and what they are told of it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

#include "messages/decision.hpp"
#include "messages/ids.hpp"
#include "messages/time.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle {

/// A task to run.
struct run_request {
  std::string task{};
  std::optional<session_id> session{};  ///< nothing: a new one
  std::string agent = "default";
  std::optional<std::string>
      model{};            ///< of the configuration; over the agent's
  std::string context{};  ///< told to the model behind the task
  std::optional<std::uint32_t> max_steps{};  ///< over the agent's own
  duration timeout{};                        ///< of the whole run; 0: none
  approve approval = approve::none;
  /// Cancels the run when its source is asked to stop, also before the start.
  std::stop_token stop{};
};

/// What may be chosen anew when an interrupted run is finished; what is not
/// set stays as the run was started.
struct resume_options {
  std::optional<approve> approval{};
  std::optional<std::uint32_t> max_steps{};
  duration timeout{};  ///< 0: as it was
  std::optional<std::string> model{};
  std::stop_token stop{};  ///< as in `run_request`
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
  /// `digest` of the proposal, or of the event, that the person was shown: a
  /// decision about anything else is `stale`. Empty: not checked.
  std::string digest{};
};

/// What a list says of a session.
struct session_summary {
  session_id id{};
  std::size_t runs = 0;
  storage::run_record last{};  ///< the newest one
  /// It has not ended, and nobody works on it.
  bool interrupted = false;
};

/// The whole output of a call: a long one is in a file, else it is the text.
struct kept_output {
  std::filesystem::path file{};
  std::string text{};
};

/// The working directory of the process that started a run, where its tools'
/// relative paths begin; empty if that is not on record.
std::string folder_of(const storage::run_record& x);

}  // namespace riffle
