// SPDX-License-Identifier: MIT
#pragma once

// Proposals and what was decided about them. Both are written once and never
// changed: what a proposal's state is follows from its decision, of which
// there is at most one.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/decision.hpp"
#include "messages/event.hpp"
#include "messages/ids.hpp"
#include "messages/time.hpp"

namespace riffle::storage {

using riffle::always_scope;
using riffle::decision_verdict;

/// An action that waits for a person's decision.
struct proposal_record {
  proposal_id id{};
  session_id session{};
  run_id run{};    ///< that made it
  call_id call{};  ///< of `tool_call` and `seek_approval`
  events::proposal_source source = events::proposal_source::tool_call;
  /// The run waits for the decision: it is void once the run has ended.
  bool waits = false;
  std::string tool{};       ///< of a tool call
  std::string title{};      ///< what a person reads
  std::string arguments{};  ///< canonical; of a tool call
  std::string digest{};     ///< `proposal_digest` of all of it
  std::string summary{};    ///< one line, or what the model wrote
  std::string preview{};    ///< a diff, a command; may be empty
  std::string reason{};     ///< why it needs a decision
  wall_time made{};
  std::optional<wall_time> expires{};
  /// Where its run works, and so what was approved.
  std::string folder = {};
  /// SHA-256 of what the tool was when it was shown (tools::tool::definition).
  std::string definition = {};
  /// What the preview was made from (tools::call_preview).
  std::string basis = {};
  bool can_always = false;   ///< further calls may be approved with this one …
  std::string pattern = {};  ///< … also those that match this
  /// The proposal of the same call whose approval came too late: what it had
  /// shown has changed.
  /// Stored with it, what an answer to that one allowed for further calls goes.
  proposal_id replaces = {};

  bool operator==(const proposal_record&) const = default;
};

/// The decision about a proposal.
struct decision_record {
  proposal_id proposal{};
  events::proposal_outcome how = events::proposal_outcome::denied;
  std::string by{};
  std::string reason{};
  std::string arguments{};  ///< approved with these instead; else empty
  always_scope always = always_scope::none;  ///< further calls too
  wall_time at{};
  /// Of an approval: `proposal_digest` of what was approved. The journal fills
  /// it in; nothing else runs.
  std::string digest{};
  bool kept = false;  ///< with `always`: in all sessions of the folder
  /// What the changed arguments acted on when they were approved
  /// (tools::call_preview); empty: nobody could tell.
  std::string basis = {};

  bool operator==(const decision_record&) const = default;
};

/// What a person approved once and for all ("always"). It counts in its
/// session, in its folder, and while the tool is what it was; it is taken back
/// by taking it away.
struct grant_record {
  proposal_id proposal{};  ///< whose approval gave it; its name
  session_id session{};    ///< empty: it is kept for all of its folder
  std::string folder{};
  std::string tool{};
  std::string definition{};  ///< SHA-256, as in `proposal_record`
  always_scope scope = always_scope::none;
  std::string
      what{};  ///< canonical arguments, or the pattern; of a tool: empty
  std::string by{};
  wall_time at{};

  bool operator==(const grant_record&) const = default;
};

/// What follows from an approval that says "always", or nothing.
std::optional<grant_record> grant_of(const proposal_record& what,
                                     const decision_record& x);

/// `grant_record::definition` of a grant of this reach for a call of a tool
/// that is `definition` and acts on `basis`: a pattern that names a file of the
/// folder holds while that is what it was. Empty: nothing can be allowed so.
std::string grant_identity(always_scope scope, const std::string& pattern,
                           const std::string& definition,
                           const std::string& basis);

/// Whether it holds for a call that waits, as far as records tell: a pattern
/// only if the call itself offers that pattern.
bool covers_waiting(const grant_record& grant, const proposal_record& what);

/// A proposal as it stands.
struct proposal_state {
  proposal_record what{};
  std::optional<decision_record> decided{};
  run_id executed_by{};  ///< the run that an approval caused; else empty

  bool operator==(const proposal_state&) const = default;
};

/// How it was decided; nothing: it is open. Its time may be over without
/// anybody having noted it.
std::optional<events::proposal_outcome> effective_outcome(
    const proposal_state& x, wall_time now);

struct decision_answer {
  decision_verdict verdict = decision_verdict::unknown;
  /// As it stands now; nothing: unknown.
  std::optional<proposal_state> now{};

  bool operator==(const decision_answer&) const = default;
};

struct proposal_filter {
  std::optional<proposal_id> id{};
  std::optional<session_id> session{};
  bool undecided = false;  ///< only those without a decision
  std::size_t limit = 1000;
};

/// What comes of a decision, by the rules that every journal shares: the first
/// one wins; one that comes after `expires` finds the proposal expired; one
/// for a run that has ended finds it cancelled. `digest`: of what the person
/// saw, empty: not checked. `store`: the decision to store, if any.
struct checked_decision {
  decision_verdict verdict = decision_verdict::unknown;
  std::optional<decision_record> store{};
};
checked_decision judge(const proposal_state& now, const decision_record& x,
                       std::string_view digest, bool run_is_active);

/// Those that the filter lets through, newest first; `all` is in order of
/// arrival.
std::vector<proposal_state> select_proposals(std::vector<proposal_state> all,
                                             const proposal_filter& filter);

/// Why a run with this cause must not begin, or nothing: the proposal must be
/// an approved tool call of this session that nothing has executed yet.
std::optional<std::string> find_cause_fault(
    const std::optional<proposal_state>& cause, const session_id& session);

}  // namespace riffle::storage
