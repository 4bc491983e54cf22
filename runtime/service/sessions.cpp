// SPDX-License-Identifier: MIT
#include "runtime/service/sessions.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "messages/utf8.hpp"
#include "runtime/base/log.hpp"
#include "runtime/service/file_changes.hpp"
#include "runtime/service/match_id.hpp"
#include "runtime/service/run_folder.hpp"
#include "runtime/service/single_call.hpp"
#include "runtime/service/stored_request.hpp"
#include "runtime/service/volley_record.hpp"
#include "runtime/storage/last_use.hpp"
#include "runtime/storage/readable_session.hpp"
#include "tools/kept_file.hpp"
#include "tools/session_state.hpp"

namespace riffle::service {

namespace {

error unknown(const char* what, const std::string& id) {
  return {errc::not_found, "sessions",
          std::string{"there is no "} + what + " \"" + id + "\""};
}

constexpr const char* title_key = "session_title";
constexpr std::size_t longest_title = 200;
/// Of sessions, and of runs that tell of volleys, where a part of an id is
/// looked for.
constexpr std::size_t most_looked_at = 10'000;

std::string on_one_line(std::string text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank) out += c;
    if (blank && !out.empty() && out.back() != ' ') out += ' ';
  }
  auto end = std::min(out.size(), longest_title);
  while (end < out.size() && continues_character(out[end])) --end;
  out.resize(end);
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

/// What a person called it, else its first task.
std::string title_of(storage::journal& journal, const session_id& id,
                     const std::vector<storage::run_record>& runs) {
  if (const auto kept = journal.load_state(id)) {
    if (const auto found = kept->find(title_key); found != kept->end()) {
      const auto text = nlohmann::json::parse(found->second, nullptr, false);
      if (text.is_string()) return text.get<std::string>();
    }
  }
  return runs.empty() ? std::string{} : on_one_line(runs.front().task);
}

/// Runs that nobody works on, though they have not ended.
expected<std::unordered_set<run_id>> interrupted_runs(
    storage::journal& journal) {
  const auto all = journal.unfinished_runs(most_unfinished);
  if (!all) return unexpected{all.error()};
  std::unordered_set<run_id> out;
  for (const auto& x : *all)
    if (x.owner == storage::run_owner::gone) out.insert(x.run.id);
  return out;
}

/// Of the newest runs, newest first. A volley has a record and no session.
expected<std::vector<session_id>> volleys_of(storage::journal& journal) {
  storage::run_filter newest;
  newest.limit = most_looked_at;
  const auto runs = journal.list_runs(newest);
  if (!runs) return unexpected{runs.error()};
  std::vector<session_id> out;
  std::unordered_set<std::string> seen;
  for (const auto& x : *runs)
    if (auto id = volley_of(x); !id.empty() && seen.insert(id).second)
      out.push_back(session_id{std::move(id)});
  return out;
}

/// Runs in which it is looked for what was resumed.
constexpr std::size_t recent_runs = 500;

/// Of sessions in the order of their starts: one whose run was resumed comes
/// where that happened.
expected<void> order_by_use(std::vector<session_id>& ids,
                            storage::journal& journal) {
  storage::run_filter recent;
  recent.limit = recent_runs;
  const auto runs = journal.list_runs(recent);
  if (!runs) return unexpected{runs.error()};
  std::unordered_map<session_id, wall_time> used;
  bool as_started = true;
  for (const auto& run : *runs) {
    const auto at = storage::last_use(run);
    as_started = as_started && at == run.started;
    auto& last = used[run.session];
    last = std::max(last, at);
  }
  if (as_started) return {};
  const std::unordered_set<session_id> there{ids.begin(), ids.end()};
  for (const auto& [id, at] : used)
    if (!is_single_call(id) && !there.contains(id)) ids.push_back(id);
  const auto use_of = [&](const session_id& id) {
    const auto found = used.find(id);
    return found == used.end() ? wall_time{} : found->second;
  };
  std::ranges::stable_sort(ids, std::ranges::greater{}, use_of);
  return {};
}

}  // namespace

expected<std::vector<session_id>> sessions::newest_of_people(
    std::size_t wanted) const {
  if (!journal_) return {};
  // Of those in front of the last one wanted any may be a single call.
  for (auto most = wanted;; most *= 2) {
    auto ids = journal_->list_sessions(most);
    if (!ids) return ids;
    const bool whole = ids->size() < most || most == 0;
    std::erase_if(*ids, is_single_call);
    if (ids->size() < wanted && !whole) continue;
    if (auto ok = order_by_use(*ids, *journal_); !ok)
      return unexpected{std::move(ok.error())};
    if (ids->size() > wanted) ids->resize(wanted);
    return ids;
  }
}

expected<std::vector<session_summary>> sessions::list(std::size_t limit) const {
  const auto ids = newest_of_people(limit);
  return ids ? list(*ids) : unexpected{ids.error()};
}

expected<std::vector<session_summary>> sessions::list(
    const std::vector<session_id>& ids) const {
  std::vector<session_summary> out;
  if (!journal_) return out;
  const auto gone = interrupted_runs(*journal_);
  if (!gone) return unexpected{gone.error()};
  for (const auto& id : ids) {
    auto whole = journal_->load_session(id);
    const bool unknown = !whole && whole.error().code == errc::not_found;
    // Deleted meanwhile, or its name is damaged.
    if (unknown && !storage::load_readable(*journal_, id)) continue;
    if (unknown || (!whole && whole.error().code == errc::storage_corrupt)) {
      // It is shown, so that it can be deleted, and hides none of the others.
      log_warn("sessions", render(whole.error()));
      out.push_back({id, 0, {}, false, title_of(*journal_, id, {})});
      continue;
    }
    if (!whole) return unexpected{std::move(whole.error())};
    session_summary x{id, whole->runs.size(), {}, false, {}};
    x.title = title_of(*journal_, id, whole->runs);
    if (x.runs > 0) x.last = std::move(whole->runs.back());
    x.interrupted =
        x.last.state == storage::run_state::active && gone->contains(x.last.id);
    out.push_back(std::move(x));
  }
  return out;
}

expected<std::vector<session_summary>> sessions::search(
    const std::string& words, std::size_t most) const {
  const auto ids = newest_of_people(most);
  if (!ids) return unexpected{ids.error()};
  std::vector<session_summary> out;
  if (!journal_) return out;
  const auto gone = interrupted_runs(*journal_);
  if (!gone) return unexpected{gone.error()};
  const word_search wanted{words};
  for (const auto& id : *ids) {
    storage::run_filter of_it;
    of_it.session = id;
    of_it.limit = static_cast<std::size_t>(-1);
    auto runs = journal_->list_runs(of_it);
    if (!runs) return unexpected{std::move(runs.error())};
    std::ranges::reverse(*runs);
    session_summary x{id, runs->size(), {}, false, {}};
    x.title = title_of(*journal_, id, *runs);
    if (!wanted.finds(x.title + " " + id.value)) continue;
    if (x.runs > 0) x.last = std::move(runs->back());
    x.interrupted =
        x.last.state == storage::run_state::active && gone->contains(x.last.id);
    out.push_back(std::move(x));
  }
  return out;
}

expected<std::vector<session_id>> sessions::newest() const {
  if (!journal_) return std::vector<session_id>{};
  return journal_->list_sessions(most_looked_at);
}

expected<session_id> sessions::find_among(const std::vector<session_id>& ids,
                                          const std::string& part) const {
  if (!journal_) return unexpected{unknown("session", part)};
  auto found = match_id(part, ids);
  if (found || found.error().code != errc::not_found) return found;
  // Older than those, or with an id that lists leave out.
  const auto exact = journal_->load_session(session_id{part});
  if (exact ? !exact->runs.empty()
            : exact.error().code == errc::storage_corrupt)
    return session_id{part};
  return found;
}

expected<session_id> sessions::find(const std::string& part) const {
  const auto ids = newest();
  if (!ids) return unexpected{ids.error()};
  auto found = find_among(*ids, part);
  if (found || found.error().code != errc::not_found || !journal_) return found;
  // What is left of one that is in no list.
  if (storage::load_readable(*journal_, session_id{part}))
    return session_id{part};
  // Whose whole id this is knows more than its runs: it may have none yet.
  if (is_volley(part) && load_volley(*journal_, part)) return session_id{part};
  const auto volleys = volleys_of(*journal_);
  if (!volleys) return unexpected{volleys.error()};
  auto volley = match_id(part, *volleys);
  return volley || volley.error().code != errc::not_found ? volley : found;
}

expected<session_id> sessions::newest_in(const std::string& folder) const {
  const error none{errc::not_found, "sessions",
                   "there is no session of this folder yet"};
  if (!journal_) return unexpected{none};
  storage::run_filter newest;
  newest.limit = recent_runs;
  auto runs = journal_->list_runs(newest);
  if (!runs) return unexpected{runs.error()};
  std::erase_if(*runs, [&](const auto& x) {
    return is_of_plan(x) || !volley_of(x).empty() ||
           x.id.value.starts_with("plan_") || folder_of(x) != folder;
  });
  if (runs->empty()) return unexpected{none};
  // The first of several that were used at the same time.
  return std::ranges::max_element(*runs, {}, storage::last_use)->session;
}

std::optional<storage::run_record> sessions::last_run(
    const session_id& id) const {
  if (!journal_) return std::nullopt;
  storage::run_filter last;
  last.session = id;
  last.limit = 1;
  auto runs = journal_->list_runs(last);
  if (!runs || runs->empty()) return std::nullopt;
  return std::move(runs->front());
}

expected<void> sessions::set_title(const session_id& id,
                                   const std::string& title) const {
  const auto text = on_one_line(title);
  return set_state(id, title_key,
                   text.empty() ? nlohmann::json{} : nlohmann::json(text));
}

expected<storage::session_snapshot> sessions::show(const session_id& id) const {
  if (!journal_) return unexpected{unknown("session", id.value)};
  auto x = journal_->load_session(id);
  const bool missing = x ? x->runs.empty() : x.error().code == errc::not_found;
  if (missing) return unexpected{unknown("session", id.value)};
  return x;
}

expected<std::unordered_set<run_id>> sessions::interrupted() const {
  if (!journal_) return std::unordered_set<run_id>{};
  return interrupted_runs(*journal_);
}

expected<storage::run_record> sessions::find_run(const run_id& id) const {
  if (!journal_) return unexpected{unknown("run", id.value)};
  return journal_->load_run(id);
}

expected<std::vector<storage::unfinished_run>> sessions::unfinished(
    std::size_t limit) const {
  if (!journal_) return {};
  return journal_->unfinished_runs(limit);
}

expected<storage::cancel_verdict> sessions::ask_end(
    const run_id& id, const std::string& reason) const {
  if (!journal_) return unexpected{unknown("run", id.value)};
  return journal_->ask_cancel(id, reason);
}

expected<storage::event_page> sessions::read_events(
    const run_id& run, std::uint64_t after_seq, std::size_t max_bytes) const {
  if (!journal_) return unexpected{unknown("run", run.value)};
  return journal_->read_events(run, after_seq, max_bytes);
}

expected<session_changes> sessions::changes(
    const storage::session_snapshot& x) const {
  if (!journal_) return session_changes{};
  return changes_of(*journal_, x);
}

expected<std::optional<run_end>> sessions::read_end(const run_id& run) const {
  if (!journal_) return unexpected{unknown("run", run.value)};
  return service::read_end(*journal_, run);
}

expected<kept_output> sessions::output(const call_id& id) const {
  std::error_code ignored;
  const auto file =
      outputs_.empty() ? std::nullopt : tools::kept_file(outputs_, id);
  if (file && std::filesystem::exists(*file, ignored))
    return kept_output{*file, {}};
  auto text = journal_ ? journal_->load_output(id)
                       : unexpected{unknown("call", id.value)};
  if (text) return kept_output{{}, std::move(*text)};
  if (text.error().code != errc::not_found)
    return unexpected{std::move(text.error())};
  return unexpected{error{errc::not_found, "sessions",
                          "no output is kept of call \"" + id.value + "\""}};
}

expected<sessions::values> sessions::state(const session_id& id) const {
  values out;
  if (!journal_) return out;
  auto texts = journal_->load_state(id);
  if (!texts) return unexpected{std::move(texts.error())};
  for (const auto& [key, text] : *texts)
    out.emplace(key, nlohmann::json::parse(text, nullptr, false));
  return out;
}

expected<void> sessions::set_state(const session_id& id, const std::string& key,
                                   const nlohmann::json& value) const {
  if (!journal_ || is_volley(id.value) || id.value.starts_with("riffle:"))
    return unexpected{unknown("session", id.value)};
  const auto now = journal_->load_state(id);
  if (!now) return unexpected{now.error()};
  auto text = tools::check_state(*now, key, value);
  if (!text) return unexpected{std::move(text.error())};
  return journal_->set_state({id, key, std::move(*text)});
}

expected<void> sessions::reset_state(const session_id& id) const {
  const auto now = state(id);
  if (!now) return unexpected{now.error()};
  for (const auto& [key, value] : *now) {
    if (key.starts_with(tools::own_state_prefix)) continue;
    if (auto ok = set_state(id, key, nullptr); !ok) return ok;
  }
  return {};
}

}  // namespace riffle::service
