// SPDX-License-Identifier: MIT
#include "runtime/service/sessions.hpp"

#include <unordered_set>
#include <utility>

#include "tools/kept_file.hpp"
#include "tools/session_state.hpp"

namespace riffle::service {

namespace {

error unknown(const char* what, const std::string& id) {
  return {errc::not_found, "sessions",
          std::string{"there is no "} + what + " \"" + id + "\""};
}

/// Runs that nobody works on, though they have not ended.
expected<std::unordered_set<run_id>> interrupted_runs(
    storage::journal& journal) {
  constexpr std::size_t most = 10'000;
  const auto all = journal.unfinished_runs(most);
  if (!all) return unexpected{all.error()};
  std::unordered_set<run_id> out;
  for (const auto& x : *all)
    if (x.owner == storage::run_owner::gone) out.insert(x.run.id);
  return out;
}

}  // namespace

expected<std::vector<session_summary>> sessions::list(std::size_t limit) const {
  std::vector<session_summary> out;
  if (!journal_) return out;
  const auto gone = interrupted_runs(*journal_);
  if (!gone) return unexpected{gone.error()};
  const auto ids = journal_->list_sessions(limit);
  if (!ids) return unexpected{ids.error()};
  for (const auto& id : *ids) {
    auto whole = journal_->load_session(id);
    if (!whole) return unexpected{std::move(whole.error())};
    session_summary x{id, whole->runs.size(), {}, false};
    if (x.runs > 0) x.last = std::move(whole->runs.back());
    x.interrupted =
        x.last.state == storage::run_state::active && gone->contains(x.last.id);
    out.push_back(std::move(x));
  }
  return out;
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

expected<storage::event_page> sessions::read_events(
    const run_id& run, std::uint64_t after_seq, std::size_t max_bytes) const {
  if (!journal_) return unexpected{unknown("run", run.value)};
  return journal_->read_events(run, after_seq, max_bytes);
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
  if (!journal_) return unexpected{unknown("session", id.value)};
  const auto now = journal_->load_state(id);
  if (!now) return unexpected{now.error()};
  auto text = tools::check_state(*now, key, value);
  if (!text) return unexpected{std::move(text.error())};
  return journal_->set_state({id, key, std::move(*text)});
}

expected<void> sessions::reset_state(const session_id& id) const {
  const auto now = state(id);
  if (!now) return unexpected{now.error()};
  for (const auto& [key, value] : *now)
    if (auto ok = set_state(id, key, nullptr); !ok) return ok;
  return {};
}

}  // namespace riffle::service
