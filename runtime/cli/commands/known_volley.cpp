// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/known_volley.hpp"

#include <algorithm>
#include <utility>

#include "runtime/config/home.hpp"
#include "runtime/service/run_end.hpp"
#include "runtime/service/stored_request.hpp"

namespace riffle::cli {

namespace {

using storage::run_record;
using storage::run_state;

/// Whether something is left to do of a volley that was killed.
bool is_open(const known_volley& x, storage::journal& journal) {
  const auto again = tries_left(x, journal);
  if (!again) return false;
  for (std::size_t i = 0; i < x.last.size(); ++i) {
    const auto* run = x.last_of(i);
    const bool ended = run != nullptr && (run->state == run_state::completed ||
                                          run->state == run_state::failed);
    if (!ended || (*again)[i] > 0) return true;
  }
  return false;
}

}  // namespace

bool known_volley::is_active() const {
  return std::ranges::any_of(
      runs, [](const auto& x) { return x.state == run_state::active; });
}

expected<volley_store> open_volleys(const config::config& settings,
                                    service::journal_use use) {
  const auto data = config::data_folder(settings.runtime);
  if (!data) return unexpected{data.error()};
  auto journal = service::open_journal(settings, use);
  if (!journal) return unexpected{std::move(journal.error())};
  return volley_store{settings, *std::move(journal), *data / "volleys"};
}

expected<known_volley> find_volley(const std::string& id,
                                   const volley_store& store) {
  const error unknown{errc::not_found, "sessions",
                      "there is no volley \"" + id +
                          "\"; 'riffle sessions list' shows what there is"};
  if (!store.journal) return unexpected{unknown};
  auto record = service::load_volley(*store.journal, id);
  if (!record && record.error().code == errc::not_found)
    return unexpected{unknown};
  if (!record) return unexpected{std::move(record.error())};
  auto runs = service::runs_of_volley(*store.journal, id, *record);
  if (!runs) return unexpected{std::move(runs.error())};
  known_volley out{std::move(*record), std::move(*runs), {}, {}};
  out.last.resize(out.record.request.tasks.size());
  out.had.resize(out.last.size());
  for (std::size_t i = 0; i < out.runs.size(); ++i) {
    const auto place = service::request_from_json(out.runs[i].settings).place;
    if (!place || place->task >= out.last.size()) continue;
    out.last[place->task] = i;
    ++out.had[place->task];
  }
  return out;
}

volley_standings standings_of(const std::vector<session_summary>& all,
                              const volley_store& store) {
  volley_standings out;
  for (const auto& x : all) {
    const auto id = x.runs > 0 ? volley_of(x.last) : std::string{};
    if (id.empty() || out.contains(id)) continue;
    const auto known = find_volley(id, store);
    if (!known) continue;
    auto& stands = out[id];
    stands.tasks = known->last.size();
    stands.runs = known->runs.size();
    for (std::size_t i = 0; i < stands.tasks; ++i) {
      const auto* run = known->last_of(i);
      if (run == nullptr) continue;
      switch (run->state) {
        case run_state::completed: ++stands.done; break;
        case run_state::failed: ++stands.failed; break;
        case run_state::cancelled: ++stands.cancelled; break;
        case run_state::active: ++stands.open; break;
      }
    }
  }
  return out;
}

volley_standings standings_of(const std::vector<session_summary>& all,
                              const config::config& settings) {
  if (std::ranges::none_of(all, [](const session_summary& x) {
        return x.runs > 0 && !volley_of(x.last).empty();
      }))
    return {};
  const auto store = open_volleys(settings, service::journal_use::reads);
  return store ? standings_of(all, *store) : volley_standings{};
}

expected<std::vector<std::uint32_t>> tries_left(const known_volley& x,
                                                storage::journal& journal) {
  std::vector<std::uint32_t> out(x.last.size());
  const auto most = x.record.request.max_retries;
  for (std::size_t i = 0; i < x.last.size(); ++i) {
    const auto* run = x.last_of(i);
    if (run == nullptr || run->state != run_state::failed || x.had[i] > most)
      continue;
    const auto end = service::read_end(journal, run->id);
    if (!end) return unexpected{end.error()};
    if (*end)
      out[i] = service::tries_left((*end)->finished.err, x.had[i], most);
  }
  return out;
}

std::optional<run_record> left_between_runs(const config::config& settings,
                                            const std::string& folder) {
  const auto data = config::data_folder(settings.runtime);
  if (!data) return std::nullopt;
  const auto locks = *data / "volleys";
  const auto left = service::left_volleys(locks);
  if (left.empty()) return std::nullopt;
  const auto journal =
      service::open_journal(settings, service::journal_use::reads);
  if (!journal || !*journal) return std::nullopt;
  for (const auto& id : left) {
    const auto x = find_volley(id, {settings, *journal, locks});
    const bool here = x && x->record.folder == folder && !x->runs.empty();
    if (!here || service::asked_volley_end(**journal, id)) continue;
    if (is_open(*x, **journal))
      return *std::ranges::max_element(
          x->runs, {}, [](const run_record& y) { return y.started.us; });
    // It was killed at its very end: the lock goes with who holds it next.
    static_cast<void>(service::lock_volley(locks, id));
  }
  return std::nullopt;
}

}  // namespace riffle::cli
