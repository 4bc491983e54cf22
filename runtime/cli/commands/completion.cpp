// SPDX-License-Identifier: MIT
// riffle completion bash|zsh|fish|man | --names KIND
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cli/command_tree.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/node/node.hpp"
#include "runtime/service/open_journal.hpp"
#include "runtime/service/proposals.hpp"
#include "runtime/service/sessions.hpp"
#include "runtime/service/volley_record.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t most_names = 200;

std::vector<std::string> sessions_of(const config::config& settings) {
  std::vector<std::string> out;
  const auto journal =
      service::open_journal(settings, service::journal_use::reads);
  if (!journal) return out;
  const auto all = service::sessions{*journal, {}}.list(most_names);
  if (!all) return out;
  std::set<std::string> volleys;
  for (const auto& x : *all) {
    const auto volley = x.runs > 0 ? volley_of(x.last) : std::string{};
    if (!volley.empty() && volleys.insert(volley).second) out.push_back(volley);
    out.push_back(x.id.value);
  }
  return out;
}

/// A task is left that did not come to its end.
bool is_left(storage::journal& journal, const std::string& volley) {
  const auto record = service::load_volley(journal, volley);
  if (!record) return false;
  std::set<std::string> sessions;
  for (const auto& task : record->request.tasks)
    if (task.session) sessions.insert(task.session->value);
  std::map<std::size_t, storage::run_state> last;
  for (const auto& session : sessions)
    if (const auto runs =
            service::runs_in_session(journal, volley, session_id{session}))
      for (const auto& [task, run] : *runs)
        last.insert_or_assign(task, run.state);
  const auto ended = std::ranges::count_if(last, [](const auto& x) {
    return x.second == storage::run_state::completed ||
           x.second == storage::run_state::failed;
  });
  return static_cast<std::size_t>(ended) < record->request.tasks.size();
}

/// What can be resumed or ended: volleys and plans by their own names, their
/// tasks and steps not one by one.
std::vector<std::string> unfinished_of(const config::config& settings) {
  std::vector<std::string> out;
  const auto journal =
      service::open_journal(settings, service::journal_use::reads);
  if (!journal || !*journal) return out;
  const auto all = service::sessions{*journal, {}}.list(most_names);
  if (!all) return out;
  std::set<std::string> volleys;
  for (const auto& x : *all) {
    if (x.runs == 0 || is_of_plan(x.last)) continue;
    const auto volley = volley_of(x.last);
    if (volley.empty()) {
      if (x.last.state == storage::run_state::active) out.push_back(x.id.value);
    } else if (volleys.insert(volley).second && is_left(**journal, volley)) {
      out.push_back(volley);
    }
  }
  return out;
}

std::vector<std::string> proposals_of(const config::config& settings) {
  std::vector<std::string> out;
  const auto journal =
      service::open_journal(settings, service::journal_use::reads);
  if (!journal || !*journal) return out;
  storage::proposal_filter filter;
  filter.undecided = true;
  filter.limit = most_names;
  const auto all = service::proposals{*journal}.list(filter);
  if (!all) return out;
  for (const auto& x : *all) out.push_back(x.it.what.id.value);
  return out;
}

std::vector<std::string> tools_of(const config::config& settings) {
  const auto registry = make_registry(settings, {});
  return registry ? (*registry)->names() : std::vector<std::string>{};
}

template <class Map>
std::vector<std::string> keys_of(const Map& all) {
  std::vector<std::string> out;
  for (const auto& [name, ignored] : all) out.push_back(name);
  return out;
}

std::vector<std::string> names_of(const std::string& kind,
                                  const config::config& settings) {
  if (kind == "sessions") return sessions_of(settings);
  if (kind == "unfinished") return unfinished_of(settings);
  if (kind == "proposals") return proposals_of(settings);
  if (kind == "tools") return tools_of(settings);
  if (kind == "agents") return keys_of(settings.agents);
  return keys_of(settings.models);
}

std::string script_of(const std::string& what) {
  const auto commands = describe_commands();
  if (what == "bash") return bash_completion(commands);
  if (what == "zsh") return zsh_completion(commands);
  if (what == "fish") return fish_completion(commands);
  return manual_page(commands);
}

}  // namespace

int execute(const completion_command& x, console& io) {
  if (x.names.empty()) {
    io.out.write(script_of(x.script));
    return io.out.good() ? completed : failed;
  }
  // A shell that asks while somebody types wants names or nothing.
  auto quiet = x.common;
  quiet.level = verbosity::quiet;
  const auto settings = load_config(quiet, config_use::looks, true, io);
  if (!settings) return usage;
  for (const auto& name : names_of(x.names, *settings))
    io.out.write(safe_line(name, 256) + "\n");
  return io.out.good() ? completed : failed;
}

}  // namespace riffle::cli
