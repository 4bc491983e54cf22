// SPDX-License-Identifier: MIT
#pragma once

// Which calls wait for a person's decision, and what was decided. The first
// decision wins; it holds for exactly the tool and arguments that the person
// saw (the digest).

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "messages/decision.hpp"
#include "messages/event.hpp"
#include "messages/ids.hpp"
#include "messages/time.hpp"

namespace riffle::core {

/// A proposal that waits. `digest`: of tool and arguments. `expires_at` is on
/// the wall clock, since proposals outlive the process.
struct open_proposal {
  proposal_id id;
  call_id call;
  std::string digest;
  std::optional<wall_time> expires_at{};

  bool operator==(const open_proposal&) const = default;
};

/// A proposal that is decided. `arguments`: what the person put in their
/// place (a JSON object), or empty.
struct decided_proposal {
  proposal_id id;
  call_id call;
  std::string digest;
  events::proposal_outcome how = events::proposal_outcome::denied;
  std::string by;
  std::string reason;
  std::string arguments;

  bool operator==(const decided_proposal&) const = default;
};

using riffle::decision_verdict;

struct ledger_answer {
  decision_verdict verdict = decision_verdict::unknown;
  std::optional<decided_proposal> holds;  ///< if accepted or too late

  bool operator==(const ledger_answer&) const = default;
};

struct request_answer {
  /// False: this id is known (an echo), nothing changed.
  bool opened = false;
  /// The same call's older open proposal, which this one superseded; it is
  /// `cancelled` by "riffle".
  std::optional<decided_proposal> superseded;

  bool operator==(const request_answer&) const = default;
};

/// The proposals of one run. Answers say what to record and publish; calling
/// it a second time with the same thing changes nothing. Restoring is: call
/// `on_request` for each recorded request, then `restore` for each recorded
/// decision. Not thread safe. Holds what is not yet forgotten; the caller
/// bounds it by calling `forget` for settled calls.
class proposal_ledger {
 public:
  request_answer on_request(open_proposal x);

  /// `digest` is that of what the person saw; empty: not checked (commands
  /// that come from this process and name no arguments). `arguments`: the
  /// edited ones of an approval, or empty.
  ledger_answer on_decision(const proposal_id& id, events::proposal_outcome how,
                            std::string_view by, std::string_view reason,
                            std::string_view digest,
                            std::string_view arguments = {});

  /// A decision from the records, which may name a proposal that was
  /// forgotten or never requested here.
  void restore(decided_proposal x);

  /// The call needs no decision any more: cancels its open proposal.
  std::optional<decided_proposal> cancel(const call_id& call);

  /// Decides everything whose time is over as `expired`, oldest first.
  std::vector<decided_proposal> expired(wall_time now);

  /// The decision that holds for a call with these arguments (recovery asks
  /// before it proposes again). The newest proposal of the call counts.
  [[nodiscard]] std::optional<decided_proposal> decision_of(
      const call_id& call, std::string_view digest) const;

  /// What waits, in order of request.
  [[nodiscard]] std::vector<open_proposal> pending() const;

  /// One of those.
  [[nodiscard]] const open_proposal* find_pending(const proposal_id& id) const;

  /// When `expired` has something to do; nothing: never.
  [[nodiscard]] std::optional<wall_time> next_expiry() const;

  /// Drops all records of a call that is settled. Cancel it first.
  void forget(const call_id& call);

 private:
  struct entry {
    open_proposal request;
    std::optional<decided_proposal> decided;
  };

  using place = std::uint64_t;  ///< in order of request

  [[nodiscard]] const entry* find(const proposal_id& id) const;
  [[nodiscard]] std::optional<place> open_of(const call_id& call) const;
  place add(open_proposal x);
  const decided_proposal& decide(place at, events::proposal_outcome how,
                                 std::string_view by, std::string_view reason);
  void hold(place at, decided_proposal x);

  std::map<place, entry> entries_;
  place next_ = 0;
  std::unordered_map<proposal_id, place> by_id_;
  std::unordered_map<call_id, std::set<place>> by_call_;
  std::set<std::pair<wall_time, place>> expiries_;  ///< of those that wait
};

}  // namespace riffle::core
