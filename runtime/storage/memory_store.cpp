// SPDX-License-Identifier: MIT
#include "runtime/storage/memory_store.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "runtime/storage/storage_error.hpp"
#include "runtime/storage/unit_check.hpp"

namespace riffle::storage {

namespace {

error fail(errc code, const char* op, const std::string& message) {
  return {code, op, message, code == errc::session_busy, {}};
}

}  // namespace

std::optional<error> memory_store::apply(commit_unit&& unit) {
  const auto i = runs_.find(unit.run);
  if (i == runs_.end())
    return fail(errc::storage_corrupt, "append",
                "run " + unit.run.value + " was never opened");
  auto& run = i->second;
  const auto& record = run.record;
  if (run.owner != run_owner::here)
    return fail(errc::storage_corrupt, "append",
                "run " + unit.run.value + ": this process does not own it");
  if (const auto fault = find_fault(
          unit, {record.session.value, record.ordinal, run.last_seq()}))
    return fail(errc::storage_corrupt, "append", *fault);
  if (unit.block) {
    run.blocks.push_back(std::move(*unit.block));
    run.commits.push_back(++commits_);
  }
  for (auto& change_of : unit.changes)
    std::visit([&](auto& x) { change(run, std::move(x)); }, change_of);
  return std::nullopt;
}

void memory_store::change(kept_run& run, run_record x) {
  const bool ends =
      run.record.state == run_state::active && x.state != run_state::active;
  run.record = std::move(x);
  if (ends) {
    finished_.push_back(run.record.id);
    std::erase(active_, run.record.id);
  }
  drop_old_logs();
}

void memory_store::change(kept_run& run, message_record x) {
  run.messages.push_back(std::move(x));
}

void memory_store::change(kept_run& run, call_record x) {
  const auto [i, is_new] =
      run.call_places.try_emplace(x.call.id.value, run.calls.size());
  if (is_new)
    run.calls.push_back(std::move(x));
  else
    run.calls[i->second] = std::move(x);
}

void memory_store::change(kept_run& run, output_record x) {
  run.outputs.push_back(x.id);
  outputs_[x.id] = std::move(x.text);
}

void memory_store::change(kept_run&, proposal_record x) {
  if (!proposal_places_.try_emplace(x.id, proposals_.size()).second) return;
  if (!x.replaces.empty()) revoke(x.replaces);
  proposals_.push_back({std::move(x), {}, {}});
}

void memory_store::change(kept_run&, const state_value& x) { put(x); }

void memory_store::change(kept_run&, file_record x) {
  files_[x.session].try_emplace(std::move(x.digest), std::move(x.bytes));
}

void memory_store::change(kept_run&, decision_record x) {
  const auto i = proposal_places_.find(x.proposal);
  if (i == proposal_places_.end() || proposals_[i->second].decided) return;
  proposals_[i->second].decided = std::move(x);
}

const proposal_state* memory_store::find(const proposal_id& id) const {
  const auto i = proposal_places_.find(id);
  return i == proposal_places_.end() ? nullptr : &proposals_[i->second];
}

decision_answer memory_store::decide(const decision_record& x,
                                     const std::string& digest) {
  const auto* found = find(x.proposal);
  if (found == nullptr) return {};
  const auto run = runs_.find(found->what.run);
  const bool active =
      run != runs_.end() && run->second.record.state == run_state::active;
  auto judged = judge(*found, x, digest, active);
  if (judged.store)
    if (auto grant = grant_of(found->what, *judged.store))
      grants_.push_back(std::move(*grant));
  if (judged.store)
    proposals_[proposal_places_.at(x.proposal)].decided =
        std::move(judged.store);
  return {judged.verdict, *found};
}

std::vector<proposal_state> memory_store::list_proposals(
    const proposal_filter& filter) const {
  return select_proposals(proposals_, filter);
}

std::vector<decision_record> memory_store::decisions_of(
    const std::vector<proposal_id>& ids) const {
  std::vector<decision_record> all;
  for (const auto& id : ids)
    if (const auto* x = find(id); x != nullptr && x->decided)
      all.push_back(*x->decided);
  return all;
}

std::vector<grant_record> memory_store::grants(
    const std::optional<session_id>& of) const {
  auto all = grants_;
  if (of)
    std::erase_if(all, [&](const auto& x) {
      return x.session != *of && !x.session.value.empty();
    });
  return all;
}

bool memory_store::revoke(const proposal_id& grant) {
  return std::erase_if(grants_,
                       [&](const auto& x) { return x.proposal == grant; }) > 0;
}

void memory_store::drop_old_logs() {
  while (keep_finished_ != 0 && finished_.size() > keep_finished_) {
    auto& run = runs_.at(finished_.front());
    finished_.pop_front();
    // The end stays known: a later block must go on after it.
    for (auto& block : run.blocks) block.lines = nullptr;
    run.blocks.erase(run.blocks.begin(),
                     run.blocks.end() - (run.blocks.empty() ? 0 : 1));
    run.commits.clear();  // nothing of it is read in order any more
    for (const auto& id : std::exchange(run.outputs, {})) outputs_.erase(id);
    run.log_dropped = true;
  }
}

session_snapshot memory_store::session_of(const session_id& id) const {
  session_snapshot x{id, {}, {}, {}, {}, load_state(id)};
  for (const auto& run_id : sessions_.at(id)) {
    const auto& run = runs_.at(run_id);
    x.runs.push_back(run.record);
    x.messages.insert(x.messages.end(), run.messages.begin(),
                      run.messages.end());
    x.calls.insert(x.calls.end(), run.calls.begin(), run.calls.end());
  }
  std::ranges::copy_if(
      proposals_, std::back_inserter(x.proposals),
      [&](const proposal_state& p) { return p.what.session == id; });
  return x;
}

run_snapshot memory_store::snapshot_of(const kept_run& run) const {
  return {run.record, run.last_seq(), session_of(run.record.session),
          load_files(run.record.session)};
}

kept_files memory_store::load_files(const session_id& id) const {
  const auto files = files_.find(id);
  return files == files_.end() ? kept_files{} : files->second;
}

expected<run_snapshot> memory_store::open_run(
    run_record run, const std::vector<file_record>& files) {
  if (auto problem = find_open_fault(run)) return unexpected{*problem};
  if (runs_.contains(run.id))
    return unexpected{fail(errc::invalid_request, "open_run",
                           "run " + run.id.value + " exists")};
  const auto i = sessions_.try_emplace(run.session).first;
  if (const auto* id = active_run(run.session))
    return unexpected{busy(run.session, *id, "open_run")};
  if (!run.cause.empty()) {
    const auto place = proposal_places_.find(run.cause);
    std::optional<proposal_state> cause;
    if (place != proposal_places_.end()) cause = proposals_[place->second];
    if (auto fault = find_cause_fault(cause, run.session))
      return unexpected{cause_error(run.cause, *fault)};
    proposals_[place->second].executed_by = run.id;
  }
  for (const auto& x : files)
    files_[run.session].try_emplace(x.digest, x.bytes);
  i->second.push_back(run.id);
  run.ordinal = i->second.size();
  const auto id = run.id;
  auto& kept = runs_[id];
  kept.record = std::move(run);
  kept.number = ++last_number_;
  active_.push_back(id);
  run_order_.push_back(id);
  return snapshot_of(kept);
}

expected<run_snapshot> memory_store::adopt_run(const run_id& id) {
  const auto i = runs_.find(id);
  if (i == runs_.end()) return missing("adopt_run", "run " + id.value);
  if (i->second.record.state != run_state::active)
    return unexpected{fail(errc::invalid_request, "adopt_run",
                           "run " + id.value + " has finished")};
  i->second.owner = run_owner::here;
  return snapshot_of(i->second);
}

expected<run_owner> memory_store::owner_of_run(const run_id& id) const {
  const auto i = runs_.find(id);
  if (i == runs_.end()) return missing("owner_of_run", "run " + id.value);
  return i->second.owner;
}

void memory_store::disown_run(const run_id& id) {
  const auto i = runs_.find(id);
  if (i != runs_.end() && i->second.record.state == run_state::active)
    i->second.owner = run_owner::gone;
}

expected<session_snapshot> memory_store::load_session(
    const session_id& id) const {
  if (!sessions_.contains(id))
    return missing("load_session", "session " + id.value);
  return session_of(id);
}

expected<run_record> memory_store::load_run(const run_id& id) const {
  const auto i = runs_.find(id);
  if (i == runs_.end()) return missing("load_run", "run " + id.value);
  return i->second.record;
}

std::vector<session_id> memory_store::list_sessions(std::size_t limit) const {
  std::vector<session_id> all;
  std::unordered_set<session_id> seen;
  for (auto i = run_order_.rbegin();
       i != run_order_.rend() && all.size() < limit; ++i) {
    const auto run = runs_.find(*i);
    if (run != runs_.end() && seen.insert(run->second.record.session).second)
      all.push_back(run->second.record.session);
  }
  return all;
}

expected<std::vector<run_record>> memory_store::list_runs(
    const run_filter& filter) const {
  std::vector<run_record> all;
  auto i = run_order_.rbegin();
  if (filter.before) {
    i = std::find(run_order_.rbegin(), run_order_.rend(), *filter.before);
    if (i == run_order_.rend())
      return missing("list_runs", "run " + filter.before->value);
    ++i;
  }
  for (; i != run_order_.rend() && all.size() < filter.limit; ++i) {
    const auto found = runs_.find(*i);
    if (found == runs_.end()) continue;
    const auto& x = found->second.record;
    if ((!filter.state || x.state == *filter.state) &&
        (!filter.session || x.session == *filter.session) &&
        (!filter.ordinal || x.ordinal == *filter.ordinal))
      all.push_back(x);
  }
  return all;
}

std::vector<unfinished_run> memory_store::unfinished_runs(
    std::size_t limit) const {
  std::vector<unfinished_run> all;
  for (auto i = active_.rbegin(); i != active_.rend() && all.size() < limit;
       ++i)
    all.push_back(
        {runs_.at(*i).record, runs_.at(*i).owner, "this process", {}});
  return all;
}

expected<event_page> memory_store::read_events(const run_id& id,
                                               std::uint64_t after_seq,
                                               std::size_t max_bytes) const {
  const auto i = runs_.find(id);
  if (i == runs_.end()) return missing("read_events", "run " + id.value);
  const auto& run = i->second;
  if (run.log_dropped)
    return missing("read_events", "log of run " + id.value + " any more");
  event_page page;
  std::size_t bytes = 0;
  auto block = std::partition_point(
      run.blocks.begin(), run.blocks.end(),
      [&](const event_block& x) { return x.last_seq <= after_seq; });
  for (; block != run.blocks.end(); ++block) {
    auto cut = cut_front(*block, after_seq);
    if (!page.blocks.empty() && bytes + cut.lines->size() > max_bytes) break;
    bytes += cut.lines->size();
    page.blocks.push_back(std::move(cut));
    if (bytes >= max_bytes) {
      ++block;
      break;
    }
  }
  page.end = block == run.blocks.end();
  return page;
}

expected<std::string> memory_store::load_output(const call_id& id) const {
  const auto i = outputs_.find(id);
  if (i == outputs_.end())
    return missing("load_output", "output of call " + id.value);
  return i->second;
}

const run_id* memory_store::active_run(const session_id& session) const {
  const auto i = sessions_.find(session);
  if (i == sessions_.end()) return nullptr;
  const auto run = std::ranges::find_if(i->second, [this](const run_id& id) {
    return runs_.at(id).record.state == run_state::active;
  });
  return run == i->second.end() ? nullptr : &*run;
}

error memory_store::busy(const session_id& session, const run_id& run,
                         const char* op) {
  return fail(errc::session_busy, op,
              "session " + session.value + " has the active run " + run.value +
                  ", owned by this process");
}

cancel_verdict memory_store::ask_cancel(const run_id& run) const {
  const auto i = runs_.find(run);
  if (i == runs_.end()) return cancel_verdict::unknown;
  if (i->second.record.state != run_state::active)
    return cancel_verdict::finished;
  return i->second.owner == run_owner::here ? cancel_verdict::here
                                            : cancel_verdict::gone;
}

void memory_store::put(const state_value& x) {
  auto& values = state_[x.session];
  if (x.value.empty())
    values.erase(x.key);
  else
    values.insert_or_assign(x.key, x.value);
  if (values.empty()) state_.erase(x.session);
}

expected<void> memory_store::set_state(const state_value& x) {
  if (const auto* run = active_run(x.session))
    return unexpected{busy(x.session, *run, "set_state")};
  put(x);
  return {};
}

std::map<std::string, std::string> memory_store::load_state(
    const session_id& id) const {
  const auto i = state_.find(id);
  return i == state_.end() ? std::map<std::string, std::string>{} : i->second;
}

expected<void> memory_store::delete_session(const session_id& id) {
  const auto session = sessions_.find(id);
  if (session == sessions_.end()) {
    if (state_.erase(id) > 0) return {};
    return missing("delete_session", "session " + id.value);
  }
  if (const auto* run = active_run(id))
    return unexpected{busy(id, *run, "delete_session")};
  state_.erase(id);
  files_.erase(id);
  for (const auto& run : session->second) {
    for (const auto& output : runs_.at(run).outputs) outputs_.erase(output);
    std::erase(finished_, run);
    runs_.erase(run);
  }
  std::erase_if(proposals_,
                [&](const auto& x) { return x.what.session == id; });
  std::erase_if(grants_, [&](const auto& x) { return x.session == id; });
  proposal_places_.clear();
  for (std::size_t i = 0; i < proposals_.size(); ++i)
    proposal_places_.emplace(proposals_[i].what.id, i);
  std::erase_if(run_order_, [&](const auto& x) { return !runs_.contains(x); });
  sessions_.erase(session);
  return {};
}

}  // namespace riffle::storage
