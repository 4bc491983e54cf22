// SPDX-License-Identifier: MIT
#include "runtime/storage/memory_journal.hpp"

#include <mutex>
#include <utility>

#include "runtime/storage/file_records.hpp"
#include "runtime/storage/memory_store.hpp"
#include "runtime/storage/suspended_runs.hpp"

namespace riffle::storage {

namespace {

/// No thread, no hop: a unit is stored and acknowledged within `append`.
class memory_journal final : public journal, public file_records {
 public:
  explicit memory_journal(std::size_t finished_runs) : store_{finished_runs} {}

  bool acknowledges_at_once() const noexcept override { return true; }

  void append(commit_unit unit, completion done) override {
    std::optional<error> failure;
    {
      std::lock_guard lock{mutex_};
      failure = suspended_.find(unit.run);
      if (!failure && (failure = store_.apply(std::move(unit))))
        suspended_.halt(unit.run, *failure);
    }
    done(std::move(failure));
  }

  using journal::open_run;
  expected<run_snapshot> open_run(run_record run,
                                  std::vector<file_record> files) override {
    std::lock_guard lock{mutex_};
    return store_.open_run(std::move(run), files);
  }

  expected<run_snapshot> adopt_run(const run_id& id) override {
    std::lock_guard lock{mutex_};
    auto x = store_.adopt_run(id);
    if (x) suspended_.release(id);
    return x;
  }

  expected<run_owner> owner_of_run(const run_id& id) override {
    std::lock_guard lock{mutex_};
    return store_.owner_of_run(id);
  }

  expected<void> disown_run(const run_id& id) override {
    std::lock_guard lock{mutex_};
    store_.disown_run(id);
    suspended_.release(id);
    return {};
  }

  expected<session_snapshot> load_session(const session_id& id) override {
    std::lock_guard lock{mutex_};
    return store_.load_session(id);
  }

  expected<run_record> load_run(const run_id& id) override {
    std::lock_guard lock{mutex_};
    return store_.load_run(id);
  }

  expected<std::vector<session_id>> list_sessions(std::size_t limit) override {
    std::lock_guard lock{mutex_};
    return store_.list_sessions(limit);
  }

  expected<std::vector<run_record>> list_runs(
      const run_filter& filter) override {
    std::lock_guard lock{mutex_};
    return store_.list_runs(filter);
  }

  expected<std::vector<unfinished_run>> unfinished_runs(
      std::size_t limit) override {
    std::lock_guard lock{mutex_};
    return store_.unfinished_runs(limit);
  }

  expected<feed_page> read_feed(const feed_place& after,
                                std::size_t max_bytes) override {
    std::lock_guard lock{mutex_};
    return store_.read_feed(after, max_bytes);
  }

  expected<feed_place> end_of_feed() override {
    std::lock_guard lock{mutex_};
    return store_.end_of_feed();
  }

  expected<feed_place> start_in_feed(const run_id& run) override {
    std::lock_guard lock{mutex_};
    return store_.start_in_feed(run);
  }

  expected<event_page> read_events(const run_id& run, std::uint64_t after_seq,
                                   std::size_t max_bytes) override {
    std::lock_guard lock{mutex_};
    return store_.read_events(run, after_seq, max_bytes);
  }

  expected<std::string> load_output(const call_id& id) override {
    std::lock_guard lock{mutex_};
    return store_.load_output(id);
  }

  expected<kept_files> load_files(const session_id& id) override {
    std::lock_guard lock{mutex_};
    return store_.load_files(id);
  }

  expected<decision_answer> decide(decision_record x,
                                   const std::string& digest) override {
    std::lock_guard lock{mutex_};
    return store_.decide(x, digest);
  }

  expected<std::vector<proposal_state>> list_proposals(
      const proposal_filter& filter) override {
    std::lock_guard lock{mutex_};
    return store_.list_proposals(filter);
  }

  expected<std::vector<decision_record>> decisions_of(
      const std::vector<proposal_id>& ids) override {
    std::lock_guard lock{mutex_};
    return store_.decisions_of(ids);
  }

  expected<std::vector<grant_record>> grants(
      const std::optional<session_id>& of) override {
    std::lock_guard lock{mutex_};
    return store_.grants(of);
  }

  expected<bool> revoke(const proposal_id& grant) override {
    std::lock_guard lock{mutex_};
    return store_.revoke(grant);
  }

  expected<cancel_verdict> ask_cancel(const run_id& run,
                                      const std::string&) override {
    std::lock_guard lock{mutex_};
    return store_.ask_cancel(run);
  }

  expected<std::vector<cancel_request>> cancels() override {
    return std::vector<cancel_request>{};
  }

  expected<void> set_state(const state_value& x) override {
    std::lock_guard lock{mutex_};
    return store_.set_state(x);
  }

  expected<std::map<std::string, std::string>> load_state(
      const session_id& id) override {
    std::lock_guard lock{mutex_};
    return store_.load_state(id);
  }

  expected<void> delete_session(const session_id& id) override {
    std::lock_guard lock{mutex_};
    return store_.delete_session(id);
  }

 private:
  std::mutex mutex_;
  memory_store store_;
  suspended_runs suspended_;
};

}  // namespace

std::unique_ptr<journal> make_memory_journal() {
  return make_memory_journal(0);
}

std::unique_ptr<journal> make_memory_journal(std::size_t finished_runs) {
  return std::make_unique<memory_journal>(finished_runs);
}

}  // namespace riffle::storage
