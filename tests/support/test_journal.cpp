// SPDX-License-Identifier: MIT
#include "tests/support/test_journal.hpp"

#include <algorithm>
#include <utility>

#include "tests/support/time_scale.hpp"

namespace riffle::testing {

namespace {

const error no_room{
    errc::storage_unavailable, "append", "the test wants it", false, {}};

}  // namespace

void test_journal::append(storage::commit_unit unit, storage::completion done) {
  duration delay{};
  auto run = unit.run;
  {
    std::lock_guard lock{mutex_};
    if (dead_) return;
    const auto span = options_.max_delay - options_.min_delay;
    std::uniform_int_distribution<duration::rep> pick{
        0, std::max<duration::rep>(span.count(), 0)};
    delay = options_.min_delay + duration{pick(random_)};
    auto& queue = waiting_[run];
    auto due = now_ + delay;
    if (!queue.empty()) due = std::max(due, queue.back().due);
    queue.push_back({std::move(unit), std::move(done), due, ++appended_});
  }
  if (options_.timer != nullptr)
    options_.timer->after(delay, [self = weak_from_this(), run] {
      if (auto alive = self.lock()) alive->release_front_of(run);
    });
}

bool test_journal::release_front_of(const run_id& run) {
  waiting unit;
  std::optional<error> failure;
  {
    std::lock_guard lock{mutex_};
    const auto i = waiting_.find(run);
    if (dead_ || i == waiting_.end()) return false;
    if (!completing_.emplace(run, std::this_thread::get_id()).second)
      return false;
    unit = std::move(i->second.front());
    i->second.pop_front();
    if (i->second.empty()) waiting_.erase(i);
    if (unit.number == fail_at_) failure_ = no_room;
    if (failure_) suspended_.halt(run, *failure_);
    failure = suspended_.find(run);
    if (!failure) {
      failure = store_.apply(std::move(unit.unit));
      if (failure) suspended_.halt(run, *failure);
    }
  }
  unit.done(std::move(failure));
  std::lock_guard lock{mutex_};
  completing_.erase(run);
  completed_.notify_all();
  return true;
}

bool test_journal::release_first(bool only_due) {
  run_id run;
  {
    std::lock_guard lock{mutex_};
    std::vector<const run_id*> candidates;
    for (const auto& [id, queue] : waiting_)
      if (!completing_.contains(id) && (!only_due || queue.front().due <= now_))
        candidates.push_back(&id);
    if (candidates.empty()) return false;
    if (only_due) {
      run = **std::min_element(
          candidates.begin(), candidates.end(), [&](auto* a, auto* b) {
            return waiting_.at(*a).front().due < waiting_.at(*b).front().due;
          });
    } else {
      std::uniform_int_distribution<std::size_t> pick{0, candidates.size() - 1};
      run = *candidates[pick(random_)];
    }
  }
  return release_front_of(run);
}

std::size_t test_journal::pending() const {
  std::lock_guard lock{mutex_};
  std::size_t n = 0;
  for (const auto& [id, queue] : waiting_) n += queue.size();
  return n;
}

std::size_t test_journal::appended() const {
  std::lock_guard lock{mutex_};
  return appended_;
}

void test_journal::advance(duration time) {
  {
    std::lock_guard lock{mutex_};
    now_ += time;
  }
  while (release_first(true)) {
  }
}

bool test_journal::release_one() { return release_first(false); }

bool test_journal::waits_for_another_thread() const {
  return std::any_of(completing_.begin(), completing_.end(),
                     [&](const auto& entry) {
                       return entry.second != std::this_thread::get_id() &&
                              waiting_.contains(entry.first);
                     });
}

void test_journal::release_all() {
  for (;;) {
    while (release_first(false)) {
    }
    std::unique_lock lock{mutex_};
    completed_.wait_for(lock, scaled(std::chrono::seconds{5}),
                        [&] { return !waits_for_another_thread(); });
    const auto held = [&](const auto& entry) {
      return completing_.contains(entry.first);
    };
    if (std::all_of(waiting_.begin(), waiting_.end(), held)) return;
  }
}

void test_journal::fail_at(std::size_t k) {
  std::lock_guard lock{mutex_};
  fail_at_ = k;
}

void test_journal::fail_writes(bool on) {
  std::lock_guard lock{mutex_};
  fail_at_ = 0;
  failure_.reset();
  if (on) failure_ = no_room;
}

std::optional<error> test_journal::find_failure() const {
  return failure_ ? failure_ : suspended_.find_end();
}

std::shared_ptr<test_journal> test_journal::crash(std::uint64_t seed) {
  std::lock_guard lock{mutex_};
  dead_ = true;
  std::mt19937_64 random{seed};
  auto store = store_;
  for (auto& [run, queue] : waiting_) {
    std::uniform_int_distribution<std::size_t> pick{0, queue.size()};
    auto keep = failure_ || suspended_.find(run) ? 0 : pick(random);
    for (std::size_t i = 0; i < keep && queue[i].number != fail_at_; ++i)
      if (store.apply(std::move(queue[i].unit))) break;
  }
  waiting_.clear();
  auto how = options_;
  how.seed = seed + 1;
  return std::shared_ptr<test_journal>{new test_journal{how, std::move(store)}};
}

expected<storage::run_snapshot> test_journal::open_run(
    storage::run_record run, std::vector<storage::file_record> files) {
  std::lock_guard lock{mutex_};
  if (auto why = find_failure()) return unexpected{*why};
  return store_.open_run(std::move(run), files);
}

expected<storage::run_snapshot> test_journal::adopt_run(const run_id& id) {
  release_all();
  std::lock_guard lock{mutex_};
  if (auto why = find_failure()) return unexpected{*why};
  auto x = store_.adopt_run(id);
  if (x) suspended_.release(id);
  return x;
}

expected<storage::run_owner> test_journal::owner_of_run(const run_id& id) {
  std::lock_guard lock{mutex_};
  return store_.owner_of_run(id);
}

expected<void> test_journal::disown_run(const run_id& id) {
  std::lock_guard lock{mutex_};
  if (auto why = find_failure()) return unexpected{*why};
  store_.disown_run(id);
  return {};
}

expected<storage::session_snapshot> test_journal::load_session(
    const session_id& id) {
  std::lock_guard lock{mutex_};
  return store_.load_session(id);
}

expected<storage::run_record> test_journal::load_run(const run_id& id) {
  std::lock_guard lock{mutex_};
  return store_.load_run(id);
}

expected<std::vector<session_id>> test_journal::list_sessions(
    std::size_t limit) {
  std::lock_guard lock{mutex_};
  return store_.list_sessions(limit);
}

expected<storage::feed_page> test_journal::read_feed(
    const storage::feed_place& after, std::size_t max_bytes) {
  std::lock_guard lock{mutex_};
  return store_.read_feed(after, max_bytes);
}

expected<storage::feed_place> test_journal::end_of_feed() {
  std::lock_guard lock{mutex_};
  return store_.end_of_feed();
}

expected<storage::feed_place> test_journal::start_in_feed(const run_id& run) {
  std::lock_guard lock{mutex_};
  return store_.start_in_feed(run);
}

expected<std::vector<storage::run_record>> test_journal::list_runs(
    const storage::run_filter& filter) {
  std::lock_guard lock{mutex_};
  return store_.list_runs(filter);
}

expected<std::vector<storage::unfinished_run>> test_journal::unfinished_runs(
    std::size_t limit) {
  std::lock_guard lock{mutex_};
  auto all = store_.unfinished_runs(limit);
  for (auto& x : all) x.suspended = suspended_.find(x.run.id);
  return all;
}

expected<storage::event_page> test_journal::read_events(const run_id& run,
                                                        std::uint64_t after_seq,
                                                        std::size_t max_bytes) {
  std::lock_guard lock{mutex_};
  return store_.read_events(run, after_seq, max_bytes);
}

expected<std::string> test_journal::load_output(const call_id& id) {
  std::lock_guard lock{mutex_};
  return store_.load_output(id);
}

expected<storage::decision_answer> test_journal::decide(
    storage::decision_record x, const std::string& digest) {
  std::lock_guard lock{mutex_};
  if (auto why = find_failure()) return unexpected{*why};
  return store_.decide(x, digest);
}

expected<std::vector<storage::grant_record>> test_journal::grants(
    const std::optional<session_id>& of) {
  std::lock_guard lock{mutex_};
  return store_.grants(of);
}

expected<bool> test_journal::revoke(const proposal_id& grant) {
  std::lock_guard lock{mutex_};
  if (auto why = find_failure()) return unexpected{*why};
  return store_.revoke(grant);
}

expected<std::vector<storage::proposal_state>> test_journal::list_proposals(
    const storage::proposal_filter& filter) {
  std::lock_guard lock{mutex_};
  return store_.list_proposals(filter);
}

expected<std::vector<storage::decision_record>> test_journal::decisions_of(
    const std::vector<proposal_id>& ids) {
  std::lock_guard lock{mutex_};
  return store_.decisions_of(ids);
}

expected<storage::cancel_verdict> test_journal::ask_cancel(const run_id& run,
                                                           const std::string&) {
  std::lock_guard lock{mutex_};
  return store_.ask_cancel(run);
}

void test_journal::ask_from_elsewhere(storage::cancel_request x) {
  std::lock_guard lock{mutex_};
  cancels_.push_back(std::move(x));
}

expected<std::vector<storage::cancel_request>> test_journal::cancels() {
  std::lock_guard lock{mutex_};
  std::erase_if(cancels_, [this](const auto& x) {
    return store_.ask_cancel(x.run) != storage::cancel_verdict::here;
  });
  return cancels_;
}

expected<void> test_journal::set_state(const storage::state_value& x) {
  std::lock_guard lock{mutex_};
  if (auto why = find_failure()) return unexpected{*why};
  return store_.set_state(x);
}

expected<std::map<std::string, std::string>> test_journal::load_state(
    const session_id& id) {
  std::lock_guard lock{mutex_};
  return store_.load_state(id);
}

expected<void> test_journal::delete_session(const session_id& id) {
  std::lock_guard lock{mutex_};
  if (auto why = find_failure()) return unexpected{*why};
  return store_.delete_session(id);
}

}  // namespace riffle::testing
