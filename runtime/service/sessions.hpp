// SPDX-License-Identifier: MIT
#pragma once

// Use cases of sessions: list, show, delete with all files, outputs, values.

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/service/requests.hpp"
#include "runtime/service/run_end.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle::service {

/// Needs no runtime, only a journal; null: there is none yet, and nothing in
/// it. Thread-safe. Blocks on the journal and on files: whoever must not is
/// answered by `answer_on`.
class sessions {
 public:
  /// `outputs`: the folder of the files of long outputs; `volley_locks`: see
  /// `volleys`. Empty: there is none.
  sessions(std::shared_ptr<storage::journal> journal,
           std::filesystem::path outputs,
           std::filesystem::path volley_locks = {})
      : journal_{std::move(journal)},
        outputs_{std::move(outputs)},
        volley_locks_{std::move(volley_locks)} {}

  /// Those used last first, at most `limit`.
  expected<std::vector<session_summary>> list(std::size_t limit) const;
  /// These, in their order; those that are not there are left out.
  expected<std::vector<session_summary>> list(
      const std::vector<session_id>& ids) const;

  /// Those of the `most` used last that have all these words in their title or
  /// id, as `list` but for what is damaged; no words: all of them. Costs their
  /// runs and titles, however much was said in them.
  expected<std::vector<session_summary>> search(
      const std::string& words, std::size_t most = 10'000) const;

  /// The session, or the record of a volley or plan, whose id this is, or whose
  /// id alone begins or ends with it (at least `shortest_part` characters).
  /// Fails with `not_found`, and with `invalid_request`, naming some, if
  /// several do. Looks at the 10,000 used last.
  expected<session_id> find(const std::string& part) const;

  /// Those used last, as many as are wanted, without records of single calls:
  /// those would push conversations off each list.
  expected<std::vector<session_id>> newest_of_people(std::size_t wanted) const;
  /// The 10,000 used last, for `find_among`.
  expected<std::vector<session_id>> newest() const;
  /// As `find`, but of these, and older ones that are called so: for who
  /// begins work in a session, which no volley's record is.
  expected<session_id> find_among(const std::vector<session_id>& ids,
                                  const std::string& part) const;

  /// The newest conversation whose last run worked in this folder; no task of
  /// a volley and no step of a plan. Looks at the newest 500 runs. `not_found`.
  expected<session_id> newest_in(const std::string& folder) const;

  /// Its newest run: who goes on wants the same agent and model. Nothing: it
  /// has none.
  std::optional<storage::run_record> last_run(const session_id& id) const;

  /// What lists call it; empty: its first task again. Fails as `set_state`.
  expected<void> set_title(const session_id& id,
                           const std::string& title) const;

  /// All that is known of it. Fails with `not_found`.
  expected<storage::session_snapshot> show(const session_id& id) const;

  /// The unfinished runs that nobody works on.
  expected<std::unordered_set<run_id>> interrupted() const;

  /// A run's record; `not_found`.
  expected<storage::run_record> find_run(const run_id& id) const;

  /// Runs that have not ended, of all processes with this journal, newest
  /// first, at most `limit`. Cheap, however much is stored.
  expected<std::vector<storage::unfinished_run>> unfinished(
      std::size_t limit) const;

  /// Asks whoever works on a run to end it, without a runtime here: `gone`, if
  /// nobody does. See `cancel_verdict`; `runs::cancel` is for those that have
  /// one.
  expected<storage::cancel_verdict> ask_end(const run_id& id,
                                            const std::string& reason) const;

  /// A page of a run's log, see `event_log::read_events`.
  expected<storage::event_page> read_events(const run_id& run,
                                            std::uint64_t after_seq,
                                            std::size_t max_bytes) const;

  /// What its calls did to files, see file_changes.hpp; of `show`.
  expected<session_changes> changes(const storage::session_snapshot& x) const;

  /// How a run ended, by its log, see run_end.hpp.
  expected<std::optional<run_end>> read_end(const run_id& run) const;

  /// Fails with `not_found`, also for an id that cannot be one.
  expected<kept_output> output(const call_id& id) const;

  /// Deletes it with all that belongs to it, files too. Fails with
  /// `not_found`, and with `session_busy` while a run of it is active whose
  /// owner lives. The id of a volley or a plan: the sessions that have runs of
  /// it alone, then its record; so what was cut off can be done again. One in
  /// which something else has run stays.
  expected<removed_sessions> remove(const session_id& id) const;

  using values = std::map<std::string, nlohmann::json>;
  /// The small values that it keeps for tools and applications.
  expected<values> state(const session_id& id) const;
  /// Sets one, also before the session's first run; null removes it. Fails
  /// with `session_busy` while a run is active, `invalid_request` over a limit
  /// (tools/session_state.hpp), `storage_unavailable`.
  expected<void> set_state(const session_id& id, const std::string& key,
                           const nlohmann::json& value) const;
  /// Removes all of them. Fails as `set_state`.
  expected<void> reset_state(const session_id& id) const;

 private:
  using run_filter = std::function<bool(const storage::run_record&)>;
  expected<removed_sessions> remove_volley(const std::string& id) const;
  expected<removed_sessions> remove_plan(
      const storage::session_snapshot& plan) const;
  expected<removed_sessions> remove_members(const std::vector<session_id>& ids,
                                            const run_filter& belongs) const;
  expected<void> check_free(const storage::session_snapshot& x) const;
  expected<void> check_plan_over(const storage::session_snapshot& x) const;
  expected<void> remove_one(const storage::session_snapshot& x) const;

  std::shared_ptr<storage::journal> journal_;
  std::filesystem::path outputs_;
  std::filesystem::path volley_locks_;
};

}  // namespace riffle::service
