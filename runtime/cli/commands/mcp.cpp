// SPDX-License-Identifier: MIT
// riffle mcp list|tools|call|read; the others: mcp_*.cpp
#include <algorithm>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/text.hpp"
#include "runtime/cli/commands/mcp_commands.hpp"
#include "runtime/cli/terminal/read_text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/listing.hpp"
#include "runtime/cli/view/mcp_text.hpp"
#include "runtime/cli/view/tool_call_view.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/config/source.hpp"
#include "runtime/node/mcp_auth.hpp"
#include "runtime/node/mcp_board.hpp"
#include "runtime/node/mcp_part.hpp"
#include "runtime/node/node.hpp"
#include "tools/mcp/names.hpp"
#include "tools/mcp/result.hpp"

namespace riffle::cli {

namespace {

constexpr auto read_limit = std::chrono::seconds{60};

std::set<std::string> wanted(const opened_servers& x, const std::string& name) {
  if (!name.empty()) return {name};
  std::set<std::string> out;
  for (const auto& [server, ignored] : x.settings.mcp) out.insert(server);
  return out;
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

/// One that was started to see how it is.
mcp::server_view tried(const mcp::servers& all, const std::string& name) {
  auto out = mcp::view_of(name, all.find(name)->status(), all.reviewed(name));
  if (out.state == to_string(mcp::server_state::starting) &&
      out.last_error.empty())
    out.last_error =
        "it has not answered yet, and is not waited for any longer "
        "(startup_timeout)";
  return out;
}

/// Of a server that living processes use, how it is there; another one is
/// tried.
std::vector<mcp::server_view> all_as_they_are(const opened_servers& x) {
  auto used = used_elsewhere(x.settings);
  auto idle = wanted(x, {});
  for (const auto& one : used) idle.erase(one.name);
  if (x.all) x.all->ready(idle);
  for (const auto& name : idle) used.push_back(tried(*x.all, name));
  for (auto& one : used)
    if (x.settings.mcp.contains(one.name))
      one.tokens = mcp_token_way(x.settings, one.name);
  std::ranges::stable_sort(used, {}, &mcp::server_view::name);
  return used;
}

int list(const mcp_command& x, console& io) {
  const auto servers = open_servers(x, servers_for::runs, io);
  if (!servers) return usage;
  const auto all = all_as_they_are(*servers);
  const bool good = std::ranges::all_of(
      all, [](const mcp::server_view& one) { return one.is_ready(); });
  const int status = write_list(
      all, x.common,
      "there are no servers: 'riffle mcp add NAME -- COMMAND' adds one" +
          servers_elsewhere(servers->settings),
      mcp_line, [](const mcp::server_view& one) { return mcp::to_json(one); },
      io);
  return good ? status : failed;
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

/// All that a model reads of it, and what it counts as.
int show_tool(const mcp_command& x, const opened_servers& servers,
              console& io) {
  auto tool = servers.all->find_tool(mcp::tool_name(x.name, x.tool));
  if (!tool && x.tool.starts_with(x.name + "__"))
    tool = servers.all->find_tool(x.tool);
  if (!tool) {
    io.complain("the server " + x.name + " has no tool " +
                config::in_quotes(x.tool) +
                " that can be used: 'riffle mcp "
                "tools " +
                x.name + "' shows what it has");
    return usage;
  }
  const auto& spec = tool->spec();
  if (x.common.output != output_kind::text) {
    io.out.write(facts_of(spec).dump(-1, ' ', false,
                                     mcp::json::error_handler_t::replace) +
                 "\n");
    return io.out.good() ? completed : failed;
  }
  const auto schema = mcp::json::parse(spec.parameters, nullptr, false);
  io.out.write(spec.name + "  " + std::string{to_string(spec.eff)} + "\n" +
               safe_text(spec.description) + "\narguments: " +
               safe_text(schema.dump(2, ' ', false,
                                     mcp::json::error_handler_t::replace)) +
               "\n");
  return io.out.good() ? completed : failed;
}

int tools_of(const mcp_command& x, console& io) {
  const auto servers = open_servers(x, servers_for::runs, io);
  if (!servers) return usage;
  if (!x.tool.empty()) {
    if (!make_ready(*servers, x.name, io)) return failed;
    return show_tool(x, *servers, io);
  }
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
  auto servers = open_servers(x, servers_for::calls, io);
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

int list_resources(const mcp_command& x, const opened_servers& servers,
                   console& io) {
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
    for (const auto& uri : now.has->templates)
      all.push_back({{"uriTemplate", uri}, {"server", name}});
  }
  const auto text = [](const mcp::json& one, const char* key) {
    return one.value(key, mcp::json()).is_string()
               ? one.at(key).get<std::string>()
               : std::string{};
  };
  return write_list(
      all, x.common, "there are no resources",
      [&](const mcp::json& one) {
        if (const auto form = text(one, "uriTemplate"); !form.empty())
          return safe_line(form, 1000) + "  (a form of URIs)\n";
        return safe_line(text(one, "uri"), 1000) + "  " +
               safe_line(text(one, "name"), 200) + "\n";
      },
      [](const mcp::json& one) { return nlohmann::ordered_json(one); }, io);
}

int read_resource(const mcp_command& x, console& io) {
  const auto servers = open_servers(x, servers_for::runs, io);
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

std::optional<opened_servers> open_servers(const mcp_command& x,
                                           servers_for what, console& io) {
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
  auto made = make_servers(*settings, {{}, mcp_memory(*settings)}, {}, what);
  if (!made) {
    report(made.error(), io);
    return std::nullopt;
  }
  return opened_servers{std::move(*settings), std::move(*made)};
}

bool make_ready(const opened_servers& x, const std::string& name, console& io) {
  if (!x.all) return true;
  const auto problems = x.all->ready(wanted(x, name));
  for (const auto& problem : problems)
    io.complain(safe_line(problem.message, 1000));
  return problems.empty();
}

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
    case what::approve: return mcp_approve(x, io);
    case what::serve: return mcp_serve(x, io);
    case what::read: return read_resource(x, io);
  }
  return usage;
}

}  // namespace riffle::cli
