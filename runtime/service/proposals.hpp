// SPDX-License-Identifier: MIT
#pragma once

// Use cases of proposals: list, show, decide, what was approved for good.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/base/executor.hpp"
#include "runtime/service/reply.hpp"
#include "runtime/service/runs.hpp"

namespace riffle::service {

/// A proposal as it stands.
struct proposal_view {
  storage::proposal_state it;
  /// The proposal that took its place, for what was approved had changed.
  proposal_id replaced_by;
};

/// Looking at proposals needs no runtime, only a journal; null: there is none
/// yet, and nothing in it. Thread-safe. Blocks on the journal: whoever must
/// not is answered by `answer_on`.
class proposals {
 public:
  explicit proposals(std::shared_ptr<storage::proposal_records> records)
      : records_{std::move(records)} {}

  /// Newest first. Those whose time is over count as decided.
  expected<std::vector<proposal_view>> list(
      const storage::proposal_filter& x) const;
  /// The one that `part` is an id of, or the only one whose id begins or ends
  /// with it. Fails as `match_id`.
  expected<proposal_id> find(const std::string& part) const;
  /// Fails with `not_found`.
  expected<proposal_view> show(const proposal_id& id) const;

  /// What was approved once and for all, oldest first: of a session, or all.
  expected<std::vector<storage::grant_record>> grants(
      const std::optional<session_id>& of) const;
  /// Takes one back, for all processes at once. False: there is none.
  expected<bool> revoke(const proposal_id& grant) const;

 private:
  std::shared_ptr<storage::proposal_records> records_;
};

/// What came of a decision, see `riffle::decided`.
struct decision_result {
  decision_verdict verdict = decision_verdict::unknown;
  std::optional<storage::proposal_state> now;
  std::optional<run_opened> started;  ///< the run that executes it
  bool queued = false;
};

/// Decides about proposals of any session, and starts what an approval
/// causes. Thread-safe.
class decisions {
 public:
  struct parts {
    std::shared_ptr<storage::journal> journal;
    /// Those of servers and nodes, too, as they are then.
    std::function<std::shared_ptr<const tools::registry>()> tools_now;
    std::shared_ptr<const config::config> config;
    std::shared_ptr<front_door> door;
  };

  decisions(parts x, runs starts, std::shared_ptr<executor> where);

  /// See `runtime::decide`. `may_start`: false, what has to be started is left
  /// to the inbox. `reader`: of a run that is started.
  void decide(proposal_id id, decision x, bool may_start, reader_maker reader,
              const reply<decision_result>& to) const;

  /// See `runtime::preview_change`. It may read files and ask the tool.
  expected<changed_call_view> preview(const proposal_id& id,
                                      std::string arguments) const;

 private:
  expected<decision_result> store(storage::decision_record x,
                                  const std::string& digest) const;
  /// False: what its arguments act on is no longer as it was shown.
  expected<bool> check(storage::decision_record& x) const;
  expected<void> check_approval(const storage::decision_record& x,
                                const storage::proposal_record& what) const;
  /// Puts the canonical text of edited arguments in their place, and binds
  /// them to what they act on.
  expected<bool> check_edit(storage::decision_record& x,
                            const storage::proposal_record& what) const;
  /// What cannot be approved fails.
  expected<changed_call_view> look_at(
      std::string arguments, const storage::proposal_record& what) const;
  void start(decision_result x, reader_maker reader,
             const reply<decision_result>& to) const;

  std::shared_ptr<const parts> parts_;
  runs runs_;
  std::shared_ptr<executor> where_;
};

/// Nothing: there is none with this id.
expected<std::optional<storage::proposal_state>> find_proposal(
    storage::proposal_records& records, const proposal_id& id);

}  // namespace riffle::service
