// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/find_session.hpp"

#include <filesystem>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/session_text.hpp"
#include "runtime/service/match_id.hpp"
#include "runtime/service/open_journal.hpp"
#include "runtime/service/run_folder.hpp"
#include "runtime/service/stopped_plan.hpp"
#include "runtime/service/stored_request.hpp"

namespace riffle::cli {

namespace {

constexpr std::string_view made_prefix = "ses_";
constexpr std::size_t longest_place = 300;

expected<service::sessions> open_sessions(const config::config& settings) {
  auto journal = service::open_journal(settings, service::journal_use::reads);
  if (!journal) return unexpected{std::move(journal.error())};
  return service::sessions{std::move(*journal), {}};
}

expected<std::optional<session_id>> newest_here(const service::sessions& all) {
  std::error_code gone;
  auto found = all.newest_in(std::filesystem::current_path(gone).string());
  if (found) return std::optional{std::move(*found)};
  auto why = std::move(found.error());
  if (why.code == errc::not_found)
    why.message += "; without -c a new one begins";
  return unexpected{std::move(why)};
}

}  // namespace

expected<const service::sessions*> session_finder::records() {
  if (!records_) {
    auto all = open_sessions(settings_);
    if (!all) return unexpected{std::move(all.error())};
    records_.emplace(std::move(*all));
  }
  return &*records_;
}

expected<std::optional<session_id>> session_finder::for_task(
    const std::optional<std::string>& named, bool goes_on) {
  using answer = std::optional<session_id>;
  if (!named && !goes_on) return answer{};
  if (!named)
    return records().and_then([](auto* x) { return newest_here(*x); });
  const auto known = found_.find(*named);
  if (known != found_.end()) return answer{known->second};
  auto found = find(*named);
  if (!found) return unexpected{std::move(found.error())};
  found_.emplace(*named, *found);
  return answer{std::move(*found)};
}

expected<session_id> session_finder::find(const std::string& named) {
  const auto all = records();
  if (!all) return unexpected{all.error()};
  if (!newest_) {
    auto ids = (*all)->newest();
    if (!ids) return unexpected{std::move(ids.error())};
    newest_ = std::move(*ids);
  }
  auto found = (*all)->find_among(*newest_, named);
  const bool made = found && found->value.starts_with(made_prefix);
  if (found && (made || found->value == named)) return found;
  const bool several = !found && found.error().code != errc::not_found;
  if (several && named.starts_with(made_prefix)) return found;
  std::vector<std::string> known;
  for (const auto& x : *newest_) known.push_back(short_id(x.value));
  fresh_.emplace(named, nearest(named, known));
  return session_id{named};
}

const session_use& session_finder::use_of(const session_id& session,
                                          const named_use& named) {
  const auto [place, is_new] = uses_.try_emplace({session, named});
  if (!is_new) return place->second;
  const auto all = records();
  const auto last = all ? (*all)->last_run(session) : std::nullopt;
  auto& use = place->second;
  std::optional<run_request> asked;
  if (last) asked = service::request_from_json(last->settings).request;
  use = cli::use_of(asked, named, settings_);
  const auto there = last ? folder_of(*last) : std::string{};
  if (const auto here = service::working_folder();
      !there.empty() && there != here)
    use.gone.push_back("session " + short_id(session.value) + " worked in " +
                       safe_line(there, longest_place) +
                       " until now; this task works here, in " +
                       safe_line(here, longest_place));
  return use;
}

expected<session_id> known_session(const config::config& settings,
                                   const std::string& part) {
  const auto all = open_sessions(settings);
  if (!all) return unexpected{all.error()};
  return all->find(part);
}

namespace {

/// They share the beginning that a person types.
std::optional<session_id> newest_plan_called(storage::journal& journal,
                                             const service::sessions& all,
                                             const std::string& part) {
  const auto ids = all.newest();
  if (!ids) return std::nullopt;
  std::vector<run_id> plans;
  for (const auto& x : *ids)
    if (service::is_part_of(part, x.value)) plans.push_back({x.value});
  const auto newest = service::newest_of_family(journal, plans);
  return newest ? std::optional{session_id{newest->value}} : std::nullopt;
}

}  // namespace

expected<session_id> session_to_finish(const config::config& settings,
                                       const std::string& part) {
  auto journal = service::open_journal(settings, service::journal_use::reads);
  if (!journal) return unexpected{std::move(journal.error())};
  const service::sessions all{*journal, {}};
  auto found = all.find(part);
  if (*journal && !found && found.error().code == errc::invalid_request)
    if (auto newest = newest_plan_called(**journal, all, part))
      return *std::move(newest);
  if (!found || !*journal || !found->value.starts_with("plan_")) return found;
  const auto plans = service::plans_from(**journal, run_id{found->value});
  if (!plans) return unexpected{plans.error()};
  return session_id{plans->back().value};
}

}  // namespace riffle::cli
