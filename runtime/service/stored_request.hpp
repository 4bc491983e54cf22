// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/service/requests.hpp"
#include "runtime/service/run_folder.hpp"

namespace riffle::service {

/// The task of a volley that a run works on.
struct task_place {
  std::string volley;  ///< `volley_…`
  std::size_t task = 0;

  bool operator==(const task_place&) const = default;
};

/// A request with what belongs to its run for good. It is stored with the run
/// (`run_record::settings`; task and session are members of the record), so
/// that any process can finish it.
struct stored_request {
  run_request request;
  /// Where its process was when it began: relative paths of tools start there.
  /// Empty: not on record.
  std::string folder;
  /// The approved proposal that the run executes.
  std::optional<proposal_id> cause{};
  std::optional<task_place> place{};
  /// Of a plan's run: where its steps' runs are. Empty: it is no plan's.
  session_id plan_session{};
  /// The plan, JSON; empty once it stands in the plan's first message.
  std::string plan{};
  /// Of a plan that goes on from one that was stopped: that one. Else empty.
  run_id goes_on_from{};
  /// Of a plan that is resumed: what the step that was open does when it
  /// fails, in the place of what the plan says. Not stored: this time only.
  std::optional<step_failure> on_error{};
  std::uint32_t open_step = 0;  ///< which one, from 1; 0: none
  /// Of a step's run: its plan. Else empty.
  run_id of_plan{};
  /// Digest of what became of `request.surroundings`: a file of the session.
  std::string surroundings = {};
  /// Of what the model was told so (`told_parts`): the digest of what lasts,
  /// and the state as it was told first.
  std::string lasting = {};
  std::string state = {};
  /// What became of `request.attachments`: their bytes are the session's.
  std::vector<attachment> attachments = {};
  /// By which it began, so that nobody goes on with it by another one unseen.
  run_configuration configuration = {};
  /// See `service::node_timeout`.
  duration node_timeout{};
  /// Servers and nodes of its tools are not waited for: the run is put on
  /// record first. A plan is only to be ended. Not stored: this time only.
  bool hurried = false;
  /// Where nobody else is kept waiting: so long servers are waited for before
  /// that, so that what comes at once is not told as a wait. Not stored.
  duration start_timeout{};
};

/// Names of Riffle's own records: of plans, of volleys, and `notes`.
[[nodiscard]] bool is_reserved(const session_id& x) noexcept;

/// Fails with `invalid_request` where a session cannot have this name: it is
/// text, in one line, and not reserved.
expected<void> check_name(const session_id& x);

/// As JSON, without task, session and stop token.
std::string to_json(const stored_request& x);
/// The opposite; what is not there or not JSON stays as in a new one.
stored_request request_from_json(const std::string& text);

}  // namespace riffle::service
