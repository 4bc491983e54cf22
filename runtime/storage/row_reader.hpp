// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/storage/commit_log.hpp"
#include "runtime/storage/file_rows.hpp"
#include "runtime/storage/grant_rows.hpp"
#include "runtime/storage/proposal_rows.hpp"
#include "runtime/storage/rows.hpp"
#include "runtime/storage/sqlite.hpp"
#include "runtime/storage/state_rows.hpp"

namespace riffle::storage {

class page_writer;

/// Pieces that the order of all runs leaves out as they are damaged: a number
/// for each, the same whenever it is met.
using feed_losses = std::set<std::uint64_t>;

/// Rows of a run whose own row is lost, or whose keys are damaged: they lie
/// under a number that no run has.
struct lost_run {
  std::int64_t n = 0;
  std::string session;  ///< as far as they say it
  std::string run;      ///< the same
};

/// Reads rows over one connection and checks each one. Each function wants a
/// transaction around it if it must see one state. They throw
/// `sqlite::failure` and `damaged`.
class row_reader {
 public:
  explicit row_reader(sqlite::database& db);

  std::optional<run_row> find_run(const run_id& id);
  /// The session's runs by ordinal; none: there is no such session.
  std::vector<run_row> runs_of(const session_id& id);
  /// The active run of a session.
  std::optional<run_row> active_run(const session_id& id);
  /// What it has, also what the log of commits has of it.
  head_row read_head(const run_row& run);
  /// What is wrong with the log of commits, see `log_check::problem`.
  const std::string& log_problem();

  /// The rows of a session's runs as they are, also damaged ones, for who
  /// deletes it. Empty: nothing is known of it. `by_each_row`: indexes say what
  /// damaged rows say by now, so each row is looked at.
  std::vector<run_row> raw_runs_of(const session_id& id,
                                   bool by_each_row = false);
  /// The same, as far as the indexes know and agree.
  std::vector<run_row> indexed_runs_of(const session_id& id);
  /// If anything shows that there are some, one walk over the numbers of runs
  /// and the gaps in them; `each_gap`: in a small store without that, too.
  std::vector<lost_run> lost_runs(bool each_gap);
  /// Whether another connection has committed since `lost_runs`, or that was
  /// not asked yet.
  bool is_changed();
  /// Whether there is a run of this number, damaged or not.
  bool has_number(std::int64_t n);
  /// Ids of its calls, if those and all lines are there that its head counts.
  std::optional<std::set<std::string>> calls_if_whole(const run_row& run);
  /// Those that damaged rows and lines show, too.
  std::set<std::string> find_call_ids(const run_row& run);

  /// Calls `f(place, record)` in order of arrival; `count` must be there.
  void for_each_message(const run_row& run, std::uint64_t count,
                        const std::function<void(message_record)>& f);
  void for_each_call(const run_row& run, std::uint64_t count,
                     const std::function<void(std::uint64_t, call_record)>& f);

  session_snapshot read_session(const session_id& id);

  /// Whose last run is newest first: costs the runs passed over. Damaged rows
  /// are counted, and left out if they show no id.
  std::vector<session_id> list_sessions(std::size_t limit,
                                        std::size_t& damaged_ones);

  /// Newest first. Damaged rows as above; `before` is the number of a run.
  std::vector<run_row> list_runs(const run_filter& filter,
                                 std::optional<std::int64_t> before,
                                 std::size_t& left_out);

  /// Runs that have not ended, newest first. Damaged rows as above.
  std::vector<run_row> active_runs(std::size_t limit, std::size_t& left_out);

  /// See `event_log::read_feed`. What is damaged is left out and named.
  feed_page read_feed(const feed_place& after, std::size_t max_bytes,
                      feed_losses& left_out);
  feed_place end_of_feed();
  /// Nothing: no event of it is in the order.
  std::optional<feed_place> start_in_feed(const run_row& run);

  event_page read_events(const run_row& run, std::uint64_t after_seq,
                         std::size_t max_bytes);

  std::optional<std::string> find_output(const call_id& id);

  proposal_reader& proposals() noexcept { return proposals_; }
  grant_reader& grants() noexcept { return grants_; }
  state_reader& state() noexcept { return state_; }
  file_reader& files() noexcept { return files_; }

 private:
  static std::string shown_session(const sqlite::rows& from);
  /// Which events a commit brought, of which run.
  struct feed_item {
    feed_place first;
    std::uint64_t last_seq = 0;

    auto operator<=>(const feed_item&) const = default;
  };
  class feed_walk;
  struct feed_runs;
  void add_item(const feed_item& item, feed_runs& near, feed_page& page,
                std::size_t& bytes);
  bool is_behind_hole(const feed_item& item, feed_runs& near,
                      const feed_place& after);
  feed_page read_feed_part(const feed_place& after, std::size_t max_bytes,
                           const log_extent& extent, feed_losses& left_out);
  run_row run_of_number(std::uint64_t n);
  struct lost_statements;
  lost_statements& for_lost();
  bool may_have_lost(bool each_gap);
  void add_lost(std::vector<lost_run>& to, std::size_t table,
                const std::vector<std::int64_t>& numbers);
  void read_lost(lost_run& x);
  std::vector<lost_run> find_lost();
  std::vector<std::int64_t> numbers();
  run_row read_run(const sqlite::rows& from, const std::string& whose);
  std::size_t count(sqlite::statement& s, std::string_view key);
  template <class F>
  void for_each_part(sqlite::statement& s, std::string_view table,
                     const run_row& run, std::uint64_t count, F f);
  head_row read_stored_head(const run_row& run);
  bool has_hole(const run_row& run, std::uint64_t last_seq);
  event_block read_block(const sqlite::rows& from, const run_row& run,
                         std::uint64_t last_seq);
  std::optional<event_block> block_with(const run_row& run, std::uint64_t seq,
                                        std::uint64_t last_seq);
  bool add_own_rows(const run_row& run, page_writer& page);
  bool add_from_log(const run_row& run, page_writer& page);

  sqlite::database& db_;
  log_reader log_;
  proposal_reader proposals_;
  grant_reader grants_;
  state_reader state_;
  file_reader files_;
  sqlite::statement run_by_id_;
  sqlite::statement run_by_id_again_;
  sqlite::statement runs_by_session_;
  sqlite::statement run_of_session_;
  sqlite::statement runs_by_session_again_;
  sqlite::statement every_run_;
  sqlite::statement active_run_;
  sqlite::statement active_runs_;
  sqlite::statement runs_before_;
  sqlite::statement sessions_of_runs_;
  sqlite::statement head_;
  sqlite::statement messages_;
  sqlite::statement calls_;
  sqlite::statement block_at_;
  sqlite::statement blocks_after_;
  sqlite::statement run_by_number_;
  sqlite::statement feed_rows_;
  sqlite::statement first_commits_;
  sqlite::statement commits_at_;
  sqlite::statement output_by_id_;
  sqlite::statement output_by_id_again_;
  std::shared_ptr<lost_statements> for_lost_;  ///< made when it is needed
};

/// Nothing, and one more is left out: it contradicts what stands beside it.
std::optional<run_record> record_if_whole(const run_row& row,
                                          std::size_t& left_out);

/// Nothing: there is no run `filter.before`.
std::optional<std::vector<run_record>> list_runs_of(row_reader& rows,
                                                    const run_filter& filter,
                                                    std::size_t& left_out);

}  // namespace riffle::storage
