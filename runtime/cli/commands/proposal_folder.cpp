// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/proposal_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "runtime/cli/commands/run_configuration.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/config/home.hpp"
#include "runtime/service/open_journal.hpp"
#include "runtime/service/proposals.hpp"
#include "runtime/storage/for_later.hpp"

namespace riffle::cli {

namespace {

namespace fs = std::filesystem;

/// An approval of what no run waits for starts one.
bool starts_a_run(const proposals_command& x, const proposal& about) {
  if (x.action == proposals_command::what::deny ||
      !storage::is_for_later(about.what))
    return false;
  return !about.decided || storage::awaits_execution(about);
}

/// Proposals of older versions do not say it, their runs do.
std::string folder_for(const proposal& about,
                       storage::session_records& journal) {
  if (!about.what.folder.empty()) return about.what.folder;
  const auto run = journal.load_run(about.what.run);
  return run ? folder_of(*run) : std::string{};
}

/// What was found by the folder that we are in stays what it is.
void keep_configuration(common_options& x) {
  if (!x.config) {
    const char* named = std::getenv("RIFFLE_CONFIG");
    if (named == nullptr || *named == '\0') return;
    auto file = config::resolve_home(named);
    if (!file) return;  // reading it says why
    x.config = std::move(*file);
  }
  x.config = fs::absolute(*x.config);
}

error refused(const proposal& about, const std::string& why) {
  return {errc::invalid_request, "proposals",
          "proposal " + about.what.id.value + " " + why};
}

}  // namespace

std::string go_there(const std::string& folder) {
  if (service::find_folder(folder) == service::folder_state::here) return {};
  return "cd " + shell_word(folder) + " && ";
}

expected<bool> go_where_it_runs(proposals_command& x, const proposal& about,
                                storage::session_records& journal) {
  if (!starts_a_run(x, about)) return false;
  const auto folder = folder_for(about, journal);
  switch (service::find_folder(folder)) {
    case service::folder_state::here: return false;
    case service::folder_state::gone:
      return unexpected{
          refused(about, "was made in " + folder +
                             ", where its tools work, and that folder is not "
                             "there any more: nothing was decided; make it "
                             "again, or deny the proposal")};
    case service::folder_state::elsewhere: break;
  }
  keep_configuration(x.common);
  std::error_code failed;
  fs::current_path(folder, failed);
  if (failed)
    return unexpected{
        refused(about, "was made in " + folder + ", which cannot be entered (" +
                           failed.message() + "): nothing was decided")};
  return true;
}

expected<bool> go_by_what_it_ran(proposals_command& x, const proposal& about,
                                 storage::session_records& journal) {
  if (!starts_a_run(x, about)) return false;
  const auto made_by = journal.load_run(about.what.run);
  if (!made_by) return false;  // executing it says why
  return take_configuration(x.common, service::configuration_of(*made_by),
                            "proposal " + about.what.id.value);
}

expected<void> is_known_here(const proposals_command& x, const proposal& about,
                             const config::config& settings) {
  auto journal = service::open_journal(settings, service::journal_use::reads);
  if (!journal) return unexpected{std::move(journal.error())};
  if (*journal) {
    const auto found = service::find_proposal(**journal, about.what.id);
    if (!found) return unexpected{found.error()};
    if (*found) return {};
  }
  return unexpected{refused(
      about,
      "is not known where it was made: the configuration there keeps its data "
      "in " +
          settings.runtime.data_dir +
          ". Nothing was decided; name the configuration that it was made "
          "with: " +
          go_there(about.what.folder) + "riffle proposals approve " + x.id +
          " --config FILE")};
}

}  // namespace riffle::cli
