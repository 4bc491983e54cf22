// SPDX-License-Identifier: MIT
// riffle completion bash|zsh|fish|man | --names KIND
#include <set>
#include <utility>

#include "runtime/cli/command_tree.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/node/node.hpp"
#include "runtime/service/open_journal.hpp"
#include "runtime/service/proposals.hpp"
#include "runtime/service/sessions.hpp"

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
