// SPDX-License-Identifier: MIT
#pragma once

// What is said about proposals and decisions. Stays in the process.

#include <optional>
#include <string>

#include <caf/allowed_unsafe_message_type.hpp>

#include "actors/core/dispatch_effects.hpp"
#include "actors/tools/call_inspection.hpp"
#include "messages/call.hpp"
#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle {

/// dispatcher -> proposal tracker.
struct approval_request {
  tool_call call;
  core::ask_reason why = core::ask_reason::now;
};

/// dispatcher -> proposal tracker; it still answers with a decision.
struct approval_withdrawn {
  call_id id;
};

/// proposal tracker -> dispatcher.
struct approval_decision {
  call_id id;
  bool approved = false;
  std::string reason;                    ///< of a denial, for the model
  errc code = errc::approval_denied;     ///< of a denial
  std::optional<tool_call> edited = {};  ///< approved in this form instead
  std::string basis = {};                ///< of an approval: `tool_call::basis`
  bool postponed = false;                ///< asked too early: it is none
};

/// publisher -> proposal tracker: the request is durable.
struct request_committed {
  call_id id;
};

/// a look's thread -> proposal tracker: what the call is and would do. `round`:
/// which look it was.
struct call_inspected {
  call_id id;
  std::uint32_t round = 0;
  call_inspection what;  ///< with the arguments that were shown
  std::optional<changed_call> changed = {};  ///< with those that were approved
};

/// proposal tracker's own: the look takes long.
struct inspection_overdue {
  call_id id;
  std::uint32_t round = 0;
  bool last = false;  ///< too long: it is not waited for any more
};

/// proposal tracker's own.
struct expiry_due {
  proposal_id id;
  time_point due{};  ///< at the latest
};

/// orchestrator -> proposal tracker: a proposal that nothing waits for.
struct open_proposal {
  storage::proposal_record record;
};

/// proposal tracker -> orchestrator: the run made a proposal.
struct proposal_made {
  std::string summary;
};

/// command inbox -> proposal tracker, and node -> inbox: what was decided, and
/// is durable.
struct decision_known {
  storage::decision_record decision;
};

/// proposal tracker -> inbox: Riffle's own decision (expired, cancelled). The
/// answer is the one that holds.
struct settle_proposal {
  storage::decision_record decision;
};

/// proposal tracker -> inbox: no decision is awaited any more.
struct unwatch_proposal {
  proposal_id id;
};

/// node -> inbox: an approved call of a run that did not wait for it.
struct queued_cause {
  storage::proposal_state cause;
};

}  // namespace riffle

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::approval_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::approval_withdrawn)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::approval_decision)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::request_committed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::call_inspected)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::inspection_overdue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::expiry_due)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::open_proposal)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::proposal_made)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::decision_known)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::settle_proposal)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::unwatch_proposal)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::queued_cause)
