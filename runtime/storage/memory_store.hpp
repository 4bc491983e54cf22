// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/storage/journal.hpp"

namespace riffle::storage {

/// The state of a journal in memory, with the rules of the port. Copyable (a
/// copy shares the lines). Not thread-safe. What it does not do: delays,
/// completions, and other processes.
class memory_store {
 public:
  /// Keeps log and outputs of at most so many finished runs, those that
  /// finished last; `read_events` of others is `not_found`. 0: of all.
  explicit memory_store(std::size_t finished_runs = 0)
      : keep_finished_{finished_runs} {}

  /// Stores a unit, or says why not; then nothing of it is stored. Takes its
  /// block and changes; its run stays.
  std::optional<error> apply(commit_unit&& unit);

  expected<run_snapshot> open_run(run_record run,
                                  const std::vector<file_record>& files = {});
  expected<run_snapshot> adopt_run(const run_id& id);
  expected<run_owner> owner_of_run(const run_id& id) const;
  void disown_run(const run_id& id);
  expected<session_snapshot> load_session(const session_id& id) const;
  expected<run_record> load_run(const run_id& id) const;
  std::vector<session_id> list_sessions(std::size_t limit) const;
  expected<std::vector<run_record>> list_runs(const run_filter& filter) const;
  std::vector<unfinished_run> unfinished_runs(std::size_t limit) const;
  [[nodiscard]] feed_page read_feed(const feed_place& after,
                                    std::size_t max_bytes) const;
  [[nodiscard]] feed_place end_of_feed() const;
  [[nodiscard]] expected<feed_place> start_in_feed(const run_id& id) const;
  expected<event_page> read_events(const run_id& id, std::uint64_t after_seq,
                                   std::size_t max_bytes) const;
  expected<std::string> load_output(const call_id& id) const;
  [[nodiscard]] kept_files load_files(const session_id& id) const;
  decision_answer decide(const decision_record& x, const std::string& digest);
  std::vector<proposal_state> list_proposals(
      const proposal_filter& filter) const;
  std::vector<decision_record> decisions_of(
      const std::vector<proposal_id>& ids) const;
  [[nodiscard]] std::vector<grant_record> grants(
      const std::optional<session_id>& of) const;
  bool revoke(const proposal_id& grant);
  /// A run is this process's, or nobody's.
  [[nodiscard]] cancel_verdict ask_cancel(const run_id& run) const;
  expected<void> set_state(const state_value& x);
  [[nodiscard]] std::map<std::string, std::string> load_state(
      const session_id& id) const;
  expected<void> delete_session(const session_id& id);

 private:
  struct kept_run {
    run_record record;
    std::vector<event_block> blocks;
    std::vector<std::uint64_t> commits;  ///< of the blocks, in their order
    std::uint64_t number = 0;
    std::vector<message_record> messages;
    std::vector<call_record> calls;
    std::unordered_map<std::string, std::size_t> call_places;
    std::vector<call_id> outputs;
    bool log_dropped = false;
    run_owner owner = run_owner::here;

    [[nodiscard]] std::uint64_t last_seq() const {
      return blocks.empty() ? 0 : blocks.back().last_seq;
    }
  };

  run_snapshot snapshot_of(const kept_run& run) const;
  session_snapshot session_of(const session_id& id) const;
  void change(kept_run& run, run_record x);
  void change(kept_run& run, message_record x);
  void change(kept_run& run, call_record x);
  void change(kept_run& run, output_record x);
  void change(kept_run& run, proposal_record x);
  void change(kept_run& run, decision_record x);
  void change(kept_run& run, const state_value& x);
  void change(kept_run& run, file_record x);
  void put(const state_value& x);
  static error busy(const session_id& session, const run_id& run,
                    const char* op);
  [[nodiscard]] const run_id* active_run(const session_id& session) const;
  [[nodiscard]] const proposal_state* find(const proposal_id& id) const;
  void drop_old_logs();

  std::size_t keep_finished_;
  std::uint64_t commits_ = 0;  ///< units that brought events
  std::uint64_t last_number_ = 0;
  std::unordered_map<run_id, kept_run> runs_;
  std::unordered_map<session_id, std::vector<run_id>> sessions_;
  std::vector<run_id> run_order_;
  std::unordered_map<session_id, std::map<std::string, std::string>> state_;
  std::unordered_map<session_id, kept_files> files_;
  std::vector<run_id> active_;  ///< runs that have not ended, oldest first
  std::deque<run_id> finished_;
  std::unordered_map<call_id, std::string> outputs_;
  std::vector<proposal_state> proposals_;  ///< in order of arrival
  std::unordered_map<proposal_id, std::size_t> proposal_places_;
  std::vector<grant_record> grants_;
};

}  // namespace riffle::storage
