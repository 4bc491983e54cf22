// SPDX-License-Identifier: MIT
// riffle mcp list|tools|call|approve|read; the others: mcp_*.cpp
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/text.hpp"
#include "runtime/cli/commands/mcp_commands.hpp"
#include "runtime/cli/terminal/approval_prompt.hpp"
#include "runtime/cli/terminal/confirm.hpp"
#include "runtime/cli/terminal/read_text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/listing.hpp"
#include "runtime/cli/view/mcp_text.hpp"
#include "runtime/cli/view/tool_call_view.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/config/source.hpp"
#include "runtime/node/mcp_part.hpp"
#include "runtime/node/node.hpp"
#include "tools/mcp/names.hpp"
#include "tools/mcp/result.hpp"

namespace riffle::cli {

namespace {

constexpr auto read_limit = std::chrono::seconds{60};

/// The servers of a configuration, none of them started.
struct opened {
  config::config settings;
  std::shared_ptr<mcp::servers> all;
};

std::optional<opened> open_servers(const mcp_command& x, bool shows_all,
                                   console& io) {
  auto settings =
      load_config(x.common, config_use::acts, x.arguments == "-", io);
  if (!settings) return std::nullopt;
  own_process(*settings);
  add_mcp_limits(*settings);
  if (!x.name.empty() && !settings->mcp.contains(x.name)) {
    io.complain("there is no server " + config::in_quotes(x.name) +
                " in the configuration: 'riffle mcp list' shows what there "
                "is");
    return std::nullopt;
  }
  auto made =
      make_servers(*settings, {{}, mcp_memory(*settings)}, {}, shows_all);
  if (!made) {
    report(made.error(), io);
    return std::nullopt;
  }
  return opened{std::move(*settings), std::move(*made)};
}

std::set<std::string> wanted(const opened& x, const std::string& name) {
  if (!name.empty()) return {name};
  std::set<std::string> out;
  for (const auto& [server, ignored] : x.settings.mcp) out.insert(server);
  return out;
}

/// Starts servers; whether all are ready. Says why others are not.
bool make_ready(const opened& x, const std::string& name, console& io) {
  if (!x.all) return true;
  const auto problems = x.all->ready(wanted(x, name));
  for (const auto& problem : problems) io.complain(safe_line(problem, 1000));
  return problems.empty();
}

/// A folder's file takes the place of the person's own one, with its servers.
std::string servers_elsewhere(const config::config& settings) {
  const auto own = config::find_own_source({}).and_then(config::read_source);
  if (!own || own->file.empty() || own->file == settings.file) return {};
  const auto theirs = config::load({}, *own);
  if (!theirs || theirs->mcp.empty()) return {};
  return "; " + own->file.string() + " has " +
         counted(theirs->mcp.size(), "server") + ", but " +
         (settings.file.empty()
              ? "is not read here"
              : settings.file.string() + " takes its place here");
}

int list(const mcp_command& x, console& io) {
  const auto servers = open_servers(x, false, io);
  if (!servers) return usage;
  if (servers->all) servers->all->ready(wanted(*servers, {}));
  std::vector<shown_server> all;
  for (const auto& [name, ignored] : servers->settings.mcp)
    all.push_back({name, servers->all->find(name)->status(),
                   servers->all->reviewed(name)});
  return write_list(
      all, x.common,
      "there are no servers: 'riffle mcp add NAME -- COMMAND' adds one" +
          servers_elsewhere(servers->settings),
      mcp_line, mcp_facts, io);
}

std::string line_of(const tools::tool_spec& x) {
  std::string out = x.name;
  out.resize(std::max<std::size_t>(out.size() + 1, 32), ' ');
  auto effect = std::string{to_string(x.eff)};
  effect.resize(11, ' ');
  return out + effect + safe_line(x.description, 100) + "\n";
}

nlohmann::ordered_json facts_of(const tools::tool_spec& x) {
  return {{"name", x.name},
          {"effect", to_string(x.eff)},
          {"idempotent", x.idempotent},
          {"description", x.description},
          {"parameters", mcp::json::parse(x.parameters, nullptr, false)}};
}

int tools_of(const mcp_command& x, console& io) {
  const auto servers = open_servers(x, false, io);
  if (!servers) return usage;
  const bool good = make_ready(*servers, x.name, io);
  std::vector<tools::tool_spec> all;
  for (const auto& server : wanted(*servers, x.name))
    for (const auto& name : servers->all->tools_of(server))
      if (const auto tool = servers->all->find_tool(name))
        all.push_back(tool->spec());
  const auto status =
      write_list(all, x.common, "there are no tools", line_of, facts_of, io);
  return good ? status : failed;
}

int call(const mcp_command& x, console& io) {
  auto servers = open_servers(x, true, io);
  if (!servers) return usage;
  if (!make_ready(*servers, x.name, io)) return failed;
  auto arguments = x.arguments == "-" ? read_stdin("arguments")
                                      : expected<std::string>{x.arguments};
  if (!arguments) return report(arguments.error(), io);
  auto name = mcp::tool_name(x.name, x.tool);
  tools::registry registry;
  for (const auto& one : servers->all->tools_of(x.name))
    static_cast<void>(registry.add(servers->all->find_tool(one)));
  if (registry.find(name) == nullptr && registry.find(x.tool) != nullptr)
    name = x.tool;
  return call_tool(registry, name, *std::move(arguments), x.common,
                   servers->settings, io);
}

int keep_approval(const mcp_command& x, const opened& servers,
                  const mcp::listing& has, console& io) {
  const auto folder = mcp_memory(servers.settings);
  const auto done = mcp::change_memory(
      folder, x.name, mcp_identity(servers.settings.mcp.at(x.name)),
      [&](mcp::remembered& known) {
        known.speaks = has.about.speaks;
        known.approved = true;
        known.tools.clear();
        for (const auto& tool : has.tools)
          known.tools[tool.name] = mcp::approval_of(tool);
      });
  if (!done) return report(done.error(), io);
  if (x.common.output != output_kind::text)
    io.out.write(
        mcp::json{{"server", x.name}, {"approved", has.tools.size()}}.dump() +
        "\n");
  else if (x.common.level != verbosity::quiet)
    io.complain("the tools of " + x.name + " are approved as they are: " +
                std::to_string(has.tools.size()));
  return io.out.good() ? completed : failed;
}

/// Whose tools they are.
std::string place_of(const config::mcp_config& x) {
  constexpr std::size_t longest = 4096;
  if (x.command.empty()) return "url: " + safe_line(x.url, longest) + "\n";
  std::string words;
  for (const auto& word : x.command)
    words += (words.empty() ? "" : " ") +
             (word.find_first_of(" \t\n\"'") == word.npos && !word.empty()
                  ? word
                  : config::in_quotes(word));
  return "command: " + safe_line(words, longest) + "\n";
}

int approve_tools(const mcp_command& x, console& io) {
  const auto servers = open_servers(x, true, io);
  if (!servers) return usage;
  if (!make_ready(*servers, x.name, io)) return failed;
  const auto has = servers->all->find(x.name)->status().has;
  auto known = mcp::recall(mcp_memory(servers->settings), x.name);
  if (known.identity != mcp_identity(servers->settings.mcp.at(x.name)))
    known = {};
  const auto effect = [&](const mcp::tool_def& tool) -> std::string {
    const auto one = servers->all->find_tool(mcp::tool_name(x.name, tool.name));
    return one ? std::string{to_string(one->spec().eff)} : "";
  };
  const auto text = mcp_changes_text(mcp::changes(known, has->tools), effect);
  if (!text.empty()) io.err.write(place_of(servers->settings.mcp.at(x.name)));
  if (x.yes || text.empty()) {
    io.err.write(text);
    return keep_approval(x, *servers, *has, io);
  }
  const auto keyboard = open_keyboard(false);
  io.err.write(text);
  if (!keyboard) {
    io.complain("nobody can be asked here: --yes approves them as they are");
    return usage;
  }
  if (confirm(
          "Approve these tools of " + x.name + "?", keyboard->get(),
          [] { return false; }, io))
    return keep_approval(x, *servers, *has, io);
  io.complain("they are not approved");
  return usage;
}

/// What one server says, if it says anything of it.
std::optional<std::string> read_from(mcp::server& at, const std::string& uri,
                                     std::string& problem) {
  mcp::request ask;
  ask.method = "resources/read";
  ask.params["uri"] = uri;
  ask.until = std::chrono::steady_clock::now() + read_limit;
  const auto said = at.ask(std::move(ask));
  if (!said)
    problem = said.error().message;
  else if (const auto* result = std::get_if<mcp::json>(&*said))
    return mcp::read_contents(result->value("contents", mcp::json()));
  else if (const auto* error = std::get_if<mcp::rpc_error>(&*said))
    problem = at.name() + ": " + mcp::render(*error);
  else
    problem = at.name() + " did not answer";
  return std::nullopt;
}

int list_resources(const mcp_command& x, const opened& servers, console& io) {
  std::vector<mcp::json> all;
  for (const auto& name : wanted(servers, x.name)) {
    auto* at = servers.all->find(name);
    const auto now = at->status();
    if (!now.has || !now.has->about.has_resources) continue;
    const auto found = at->list("resources/list", "resources");
    if (!found) return report(found.error(), io);
    for (auto one : *found) {
      if (!one.is_object()) continue;
      one["server"] = name;
      all.push_back(std::move(one));
    }
  }
  const auto text = [](const mcp::json& one, const char* key) {
    return one.value(key, mcp::json()).is_string()
               ? one.at(key).get<std::string>()
               : std::string{};
  };
  return write_list(
      all, x.common, "there are no resources",
      [&](const mcp::json& one) {
        return safe_line(text(one, "uri"), 1000) + "  " +
               safe_line(text(one, "name"), 200) + "\n";
      },
      [](const mcp::json& one) { return nlohmann::ordered_json(one); }, io);
}

int read_resource(const mcp_command& x, console& io) {
  const auto servers = open_servers(x, false, io);
  if (!servers) return usage;
  const bool good = make_ready(*servers, x.name, io);
  if (!servers->all) {
    io.complain("there are no servers");
    return usage;
  }
  if (x.uri.empty()) {
    const auto status = list_resources(x, *servers, io);
    return good ? status : failed;
  }
  std::string problem = "no server has resources";
  for (const auto& name : wanted(*servers, x.name)) {
    auto* at = servers->all->find(name);
    const auto now = at->status();
    if (!now.has || !now.has->about.has_resources) continue;
    if (const auto text = read_from(*at, x.uri, problem)) {
      if (x.common.output == output_kind::text && io.out.is_terminal())
        io.out.write(safe_text(*text) + (text->ends_with('\n') ? "" : "\n"));
      else if (x.common.output == output_kind::text)
        io.out.write(*text);
      else
        io.out.write(mcp::to_text(mcp::json{
                         {"uri", x.uri}, {"server", name}, {"text", *text}}) +
                     "\n");
      return io.out.good() ? completed : failed;
    }
  }
  io.complain(safe_line(problem, 1000));
  return failed;
}

}  // namespace

int execute(const mcp_command& x, console& io) {
  using what = mcp_command::what;
  switch (x.action) {
    case what::add: return mcp_add(x, io);
    case what::remove: return mcp_remove(x, io);
    case what::import: return mcp_import(x, io);
    case what::login: return mcp_login(x, io);
    case what::logout: return mcp_logout(x, io);
    case what::list: return list(x, io);
    case what::tools: return tools_of(x, io);
    case what::call: return call(x, io);
    case what::approve: return approve_tools(x, io);
    case what::serve: return mcp_serve(x, io);
    case what::read: return read_resource(x, io);
  }
  return usage;
}

}  // namespace riffle::cli
