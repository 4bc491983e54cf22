// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/chat_names.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/base/clock.hpp"
#include "runtime/cli/commands/net_changes.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/changes_text.hpp"
#include "runtime/cli/view/session_text.hpp"
#include "runtime/service/file_changes.hpp"
#include "runtime/service/sessions.hpp"
#include "runtime/storage/last_use.hpp"
#include "runtime/storage/read_only_journal.hpp"

namespace riffle::cli {

std::vector<session_summary> begun_alone(std::vector<session_summary> all) {
  std::erase_if(all, [](const session_summary& x) { return x.runs == 0; });
  auto alone = all;
  std::erase_if(alone, [](const session_summary& x) {
    return !volley_of(x.last).empty() || !plan_of(x.last).empty();
  });
  return alone.empty() ? all : alone;
}

namespace {

constexpr std::size_t longest_name = 200;

/// By what is not the name itself nothing would be found.
bool is_whole(const std::string& name) {
  return !name.empty() && safe_line(name, longest_name) == name;
}

std::optional<service::sessions> open_sessions(
    const std::filesystem::path& data) {
  auto journal = storage::open_read_only_journal(data);
  if (!journal) return std::nullopt;
  return service::sessions{*std::move(journal), {}};
}

/// True: there are more.
bool find_titles(const std::filesystem::path& data,
                 const std::optional<session_id>& but, const looker& who,
                 const name_look::finder& to) {
  constexpr std::size_t most_looked_at = 1000;
  const auto sessions = open_sessions(data);
  auto all = sessions ? sessions->search({}, most_looked_at)
                      : unexpected{error{errc::not_found, "sessions", {}}};
  if (!all) return true;
  const bool cut = all->size() == most_looked_at;
  auto offered = begun_alone(*std::move(all));
  std::ranges::stable_partition(offered, [&](const session_summary& x) {
    return folder_of(x.last) == who.folder;
  });
  const auto now = system_wall_time();
  std::vector<named_choice> found;
  for (auto& x : offered) {
    if (!is_whole(x.title) || x.id == but) continue;
    auto about = ago(storage::last_use(x.last), now);
    if (const auto place = folder_of(x.last); place != who.folder)
      about += ", " + short_place(place, who.home);
    found.push_back({std::move(x.title), std::move(about)});
  }
  to.add([&](auto& titles) { titles = std::move(found); });
  return cut;
}

bool find_changed(const std::filesystem::path& data, const session_id& session,
                  const name_look::finder& to) {
  const auto sessions = open_sessions(data);
  if (!sessions) return true;
  const auto whole = sessions->show(session);
  if (!whole) return whole.error().code != errc::not_found;
  const auto all = sessions->changes(*whole);
  if (!all) return true;
  std::vector<named_choice> found;
  auto files = by_file(*all, {}, service::taken_back_of(whole->state).runs);
  find_net(files);
  for (const auto& x : files)
    if (is_whole(x.path)) found.push_back({x.path, counts_text(x)});
  to.add([&](auto& files) { files = std::move(found); });
  return false;
}

}  // namespace

name_finder titles_in(std::filesystem::path data, std::optional<session_id> but,
                      looker who) {
  return [data = std::move(data), but = std::move(but), who = std::move(who)](
             const auto& to) { return find_titles(data, but, who, to); };
}

name_finder changed_files_in(std::filesystem::path data, session_id session) {
  return [data = std::move(data), session = std::move(session)](
             const auto& to) { return find_changed(data, session, to); };
}

}  // namespace riffle::cli
