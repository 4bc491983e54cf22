// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/find_session.hpp"

#include <filesystem>
#include <utility>

#include "runtime/cli/terminal/choose.hpp"
#include "runtime/service/open_journal.hpp"
#include "runtime/service/sessions.hpp"

namespace riffle::cli {

namespace {

constexpr std::string_view made_prefix = "ses_";

expected<service::sessions> open_sessions(const config::config& settings) {
  auto journal = service::open_journal(settings, service::journal_use::reads);
  if (!journal) return unexpected{std::move(journal.error())};
  return service::sessions{std::move(*journal), {}};
}

}  // namespace

expected<std::optional<session_id>> session_for_task(
    const config::config& settings, const std::optional<std::string>& named,
    bool goes_on) {
  using answer = std::optional<session_id>;
  if (!named && !goes_on) return answer{};
  const auto all = open_sessions(settings);
  if (!all) return unexpected{all.error()};
  if (!named) {
    std::error_code gone;
    auto found = all->newest_in(std::filesystem::current_path(gone).string());
    if (found) return answer{std::move(*found)};
    auto why = std::move(found.error());
    if (why.code == errc::not_found)
      why.message += "; without -c a new one begins";
    return unexpected{std::move(why)};
  }
  auto found = all->find(*named);
  const bool made = found && found->value.starts_with(made_prefix);
  if (found && (made || found->value == *named)) return answer{*found};
  const bool several = !found && found.error().code != errc::not_found;
  if (several && named->starts_with(made_prefix))
    return unexpected{std::move(found.error())};
  return answer{session_id{*named}};
}

std::optional<std::string> model_of_session(config::config& settings,
                                            const session_id& session,
                                            const std::string& agent) {
  const auto all = open_sessions(settings);
  auto name = all ? all->chosen_model(session, agent) : std::nullopt;
  // The configuration may not have it any more.
  return name && choose_model(name, settings) ? name : std::nullopt;
}

expected<session_id> known_session(const config::config& settings,
                                   const std::string& part) {
  const auto all = open_sessions(settings);
  if (!all) return unexpected{all.error()};
  return all->find(part);
}

}  // namespace riffle::cli
