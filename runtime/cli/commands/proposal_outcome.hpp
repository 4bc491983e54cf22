// SPDX-License-Identifier: MIT
#pragma once

// What came of a decision, and of the call that it approved.

#include <optional>
#include <string>

#include "runtime/api/riffle.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/service/proposals.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle::cli {

/// Runs that were begun, and that nobody works on any more.
class gone_runs {
 public:
  /// Null: there are none.
  explicit gone_runs(storage::journal* journal);
  /// For who has a runtime.
  explicit gone_runs(runtime& rt);

  [[nodiscard]] bool has(const run_id& x) const;
  /// A session with one of them can begin no other.
  [[nodiscard]] bool hold(const session_id& x) const;

 private:
  std::vector<storage::run_record> all_;
};

/// It was approved, and the run that executes it is one of those; `journal`
/// says whether its call had ended.
bool is_interrupted(const service::proposal_view& x, const gone_runs& gone,
                    storage::journal& journal);

/// The command that ends what was interrupted, and frees its session.
std::string how_to_resume(const proposal& x);

/// The call that an approval led to; nothing: none has settled.
std::optional<storage::call_record> executed_call(
    const service::proposal_view& about, storage::journal& journal);
std::string outcome_text(const storage::call_record& x);

/// What was decided holds, and nothing is in its way.
bool is_good_news(const decided& x);
/// For who has decided about the proposal with this id.
std::string verdict_text(const decided& x, const std::string& id, runtime& rt);

/// It was approved, but its tool never began; says so.
bool was_not_executed(const run& by, runtime& rt, console& io);

}  // namespace riffle::cli
