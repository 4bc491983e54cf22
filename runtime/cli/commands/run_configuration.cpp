// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/run_configuration.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "runtime/base/digest.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/config/source.hpp"
#include "runtime/service/open_journal.hpp"
#include "runtime/service/stopped_plan.hpp"
#include "runtime/service/volley_record.hpp"

namespace riffle::cli {

namespace {

/// `a` may be none.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code failed;
  return !a.empty() && (a == b || std::filesystem::equivalent(a, b, failed));
}

error refused(const std::string& what, const std::string& file,
              const std::string& why) {
  return {
      errc::invalid_config, "config",
      what + " was begun with the configuration " + file + ", which " + why};
}

}  // namespace

expected<service::run_configuration> configuration_of_unfinished(
    const config::config& settings, const std::string& id) {
  auto journal = service::open_journal(settings, service::journal_use::reads);
  if (!journal) return unexpected{std::move(journal.error())};
  if (!*journal) return {};
  if (service::is_volley(id)) {
    auto volley = service::load_volley(**journal, id);
    // Whoever resumes it says that it is not there.
    if (!volley && volley.error().code == errc::not_found) return {};
    if (!volley) return unexpected{std::move(volley.error())};
    return std::move(volley->configuration);
  }
  const auto all = (*journal)->unfinished_runs(service::most_unfinished);
  if (!all) return unexpected{all.error()};
  const auto found = std::ranges::find_if(*all, [&](const auto& x) {
    return x.run.session.value == id || x.run.id.value == id;
  });
  if (found != all->end()) return service::configuration_of(found->run);
  const auto ended = (*journal)->load_run(run_id{id});
  if (!ended || !service::is_stopped_plan(*ended)) return {};
  return service::configuration_of(*ended);
}

expected<bool> take_configuration(common_options& x,
                                  const service::run_configuration& of,
                                  const std::string& what) {
  const char* named = std::getenv("RIFFLE_CONFIG");
  const bool is_named = x.config || (named != nullptr && *named != '\0');
  if (of.file.empty() || is_named) return false;
  const auto here = config::find_source({});
  if (!here || same_file(here->file, of.file)) return false;
  const auto now = config::read_source({of.file, {}, false});
  const auto file = safe_line(of.file, 4096);
  if (!now)
    return unexpected{refused(what, file,
                              "cannot be read any more (" +
                                  now.error().message +
                                  "): --config FILE names another one")};
  const auto own = config::find_own_source({});
  const bool is_own = own && same_file(own->file, of.file);
  if (!is_own && sha256(now->text) != of.digest)
    return unexpected{
        refused(what, file,
                "has changed since then: look at it and name it by --config '" +
                    file + "', or name another one")};
  x.config = of.file;
  return true;
}

void tell_configuration(const common_options& x, console& io) {
  if (x.level != verbosity::quiet)
    io.complain("by the configuration that it was begun with, " +
                safe_line(x.config->string(), 4096));
}

}  // namespace riffle::cli
