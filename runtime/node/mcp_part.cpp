// SPDX-License-Identifier: MIT
#include "runtime/node/mcp_part.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/api/version.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/config/home.hpp"
#include "runtime/config/json_text.hpp"
#include "runtime/config/mcp_checks.hpp"
#include "runtime/node/mcp_auth.hpp"
#include "runtime/node/mcp_board.hpp"
#include "runtime/node/node.hpp"
#include "tools/mcp/http_link.hpp"
#include "tools/mcp/names.hpp"
#include "tools/mcp/stdio_link.hpp"

namespace riffle {

namespace {

using nlohmann::json;

/// Longest wait for servers, whose processes and sessions have a grace.
constexpr auto end_of_servers = std::chrono::seconds{10};

std::vector<std::string> environment_of(const config::mcp_config& x) {
  std::vector<std::string> out;
  const auto set = config::texts_of(x.variables.text);
  const auto all = environment_without_keys();
  const auto add = [&](const std::string& name) {
    for (const auto& [other, ignored] : set)
      if (other == name) return;
    for (const auto& entry : all)
      if (entry.starts_with(name + "=")) out.push_back(entry);
  };
  for (const auto* name : {"PATH", "HOME", "LANG"}) add(name);
  for (const auto& name : x.env)
    if (name != "PATH" && name != "HOME" && name != "LANG") add(name);
  for (const auto& [name, value] : set) out.push_back(name + "=" + value);
  return out;
}

std::filesystem::path folder_of(const config::mcp_config& x) {
  std::error_code ignored;
  if (x.cwd.empty()) return std::filesystem::current_path(ignored);
  return std::filesystem::absolute(config::resolve_home(x.cwd).value_or(x.cwd),
                                   ignored);
}

mcp::identity identity_of(const config::mcp_config& x) {
  mcp::identity me;
  me.version = RIFFLE_VERSION;
  me.fills_forms = x.elicitation == "defaults";
  std::error_code ignored;
  for (const auto& root : x.roots)
    me.roots.push_back(std::filesystem::weakly_canonical(
                           config::resolve_home(root).value_or(root), ignored)
                           .string());
  return me;
}

std::filesystem::path lock_of(const std::filesystem::path& guard_dir,
                              const std::string& name) {
  static std::atomic<unsigned> count{0};
  if (guard_dir.empty()) return {};
  return guard_dir / ("mcp-" + name + "-" + std::to_string(::getpid()) + "-" +
                      std::to_string(++count) + ".lock");
}

std::function<mcp::link_ptr(mcp::link_events)> stdio_to(
    const std::string& name, const config::mcp_config& x,
    const std::filesystem::path& lock) {
  mcp::stdio_options how;
  how.name = name;
  how.command = x.command;
  how.folder = folder_of(x);
  how.environment = environment_of(x);
  how.lock = lock;
  how.me = identity_of(x);
  return [how](mcp::link_events events) {
    return mcp::open_stdio(how, std::move(events));
  };
}

expected<std::function<mcp::link_ptr(mcp::link_events)>> http_to(
    const std::string& name, const config::config& config,
    const std::filesystem::path& memory) {
  const auto& x = config.mcp.at(name);
  mcp::http_link_options how;
  how.name = name;
  how.url = x.url;
  how.me = identity_of(x);
  auto headers = mcp_headers(name, x);
  if (!headers) return unexpected{std::move(headers.error())};
  how.headers = *std::move(headers);
  how.who = std::make_shared<mcp::token_holder>(
      token_ways(name, config, how.headers, memory));
  return [how](mcp::link_events events) {
    return mcp::open_http(how, std::move(events));
  };
}

/// A connection that there cannot be.
class dead_link final : public mcp::link {
 public:
  explicit dead_link(std::string why) : why_{std::move(why)} {}
  mcp::reply ask(const mcp::request&) override { return mcp::lost{why_, true}; }
  void notify(std::string_view, const json&) override {}
  void set_version(std::string_view) override {}
  void close() override {}

 private:
  const std::string why_;
};

std::function<mcp::link_ptr(mcp::link_events)> dead(const std::string& why) {
  return [why](const mcp::link_events&) {
    return std::make_shared<dead_link>(why);
  };
}

std::function<mcp::tool_rules(const std::string&)> rules_of(
    const config::mcp_config& x) {
  return [x](const std::string& tool) {
    mcp::tool_rules out;
    out.trusts = x.trust == "annotations";
    const auto found = x.tools.find(tool);
    if (found == x.tools.end()) return out;
    out.eff = parse_effect(found->second.effect);
    out.keys = found->second.keys;
    out.preview = json::parse(found->second.preview.text, nullptr, false);
    return out;
  };
}

core::circuit_breaker::limits supervision_of(
    const config::supervision_config& x) {
  core::circuit_breaker::limits out;
  out.intensity = x.intensity;
  out.period = x.period;
  out.backoff = {x.backoff_base, x.backoff_cap};
  out.cool_down = x.cool_down;
  return out;
}

}  // namespace

expected<std::shared_ptr<mcp::servers>> make_servers(
    const config::config& config, const mcp_places& places,
    std::function<void(const std::vector<tools::tool_ptr>&)> on_tools,
    servers_for what) {
  if (config.mcp.empty()) return std::shared_ptr<mcp::servers>{};
  mcp::servers_options out;
  out.memory = places.memory;
  out.on_tools = std::move(on_tools);
  out.on_change = places.on_change;
  out.shows_all = what != servers_for::runs;
  config::keep_secrets_of_mcp(config);
  for (const auto& [name, x] : config.mcp) {
    mcp::server_setup one;
    one.guarded = !x.command.empty();
    one.identity = mcp_identity(x);
    one.memory_name = mcp_memory_name(name, x);
    for (const auto& [tool, ignored] : x.tools) one.named.push_back(tool);
    one.rules = rules_of(x);
    one.how.name = name;
    one.how.me = identity_of(x);
    one.how.startup_timeout = x.startup_timeout;
    one.how.supervision = supervision_of(config.supervision);
    if (one.guarded) one.how.lock = lock_of(places.guard_dir, name);
    if (one.guarded) {
      const auto why = what == servers_for::approval
                           ? std::string{}
                           : why_not_here(places.memory, name, x);
      one.how.connect =
          why.empty() ? stdio_to(name, x, one.how.lock) : dead(why);
    } else {
      auto connect = http_to(name, config, places.memory);
      // One that cannot be asked is a server that is not there.
      one.how.connect =
          connect ? *std::move(connect) : dead(connect.error().message);
      one.how.transport = "tcp";
    }
    out.all.push_back(std::move(one));
  }
  return std::make_shared<mcp::servers>(std::move(out));
}

expected<void> node::open_servers(const std::filesystem::path& guard_dir) {
  // A journal of the application's leaves nothing in a folder.
  if (!guard_dir.empty())
    servers_told_ =
        std::make_shared<mcp_board>(mcp_boards(*config_), side_executor_);
  auto made = make_servers(*config_,
                           {guard_dir, mcp_memory(*config_),
                            [to = servers_told_] {
                              if (to) to->note();
                            }},
                           [this](const auto& all) { on_served(all); });
  if (!made) return unexpected{std::move(made.error())};
  servers_ = std::move(*made);
  if (servers_told_) servers_told_->watch(servers_);
  return {};
}

/// Their tools get pools before a run can name them.
void node::on_served(const std::vector<tools::tool_ptr>& all) {
  std::vector<std::string> fresh;
  {
    const std::lock_guard lock{pools_mutex_};
    if (closing_) return;
    for (const auto& x : all)
      if (!pools_.contains(x->spec().name)) fresh.push_back(x->spec().name);
    served_ = all;
    set_served();
  }
  const auto now = tools_->now();
  for (const auto& name : fresh) {
    if (now->find(name) == nullptr) continue;
    const auto& x = config_->tools.of(name);
    if (nodes_)
      nodes_->set_rule(name,
                       {x.nodes, x.sticky == "session", true, x.concurrency});
    if (auto pool = spawn_pool_(name))
      caf::anon_send(registry_actor_, pool_of_node{name, std::move(pool)});
  }
}

void keep_for_ever(std::shared_ptr<const void> x) {
  static std::mutex mutex;
  static auto* const all =
      new std::vector<std::shared_ptr<const void>>;  // NOLINT
  const std::lock_guard lock{mutex};
  all->push_back(std::move(x));
}

fault_hook node::faults_for_tests;

/// When nobody calls them any more.
void node::end_servers() {
  if (!servers_) return;
  if (!servers_->end(std::chrono::steady_clock::now() + end_of_servers))
    keep_for_ever(servers_);
}

std::function<tools::tool_ptr(const std::string&)> node::tool_finder() const {
  return [all = tools_](const std::string& tool) {
    const auto now = all->now();
    const auto* found = now->find(tool);
    return found == nullptr ? tools::tool_ptr{} : *found;
  };
}

std::filesystem::path mcp_memory(const config::config& config) {
  const auto data = config::data_folder(config.runtime);
  return data ? *data / "mcp" : std::filesystem::path{};
}

namespace {

/// The limit of a whole server, for each of its tools that has no other one.
void add_limit_of_server(config::config& config, const std::string& name,
                         duration limit) {
  const auto prefix = name + "__";
  auto& tools = config.tools;
  auto& all = tools.of_servers[prefix] =
      config::with_tool_defaults(prefix, tools.defaults);
  all.timeout = limit;
  for (auto& [tool, x] : tools.by_name)
    if (tool.starts_with(prefix) &&
        !config.origins.contains("tools." + tool + ".timeout"))
      x.timeout = limit;
}

}  // namespace

void add_mcp_limits(config::config& config) {
  for (const auto& [name, server] : config.mcp) {
    if (server.timeout > duration{})
      add_limit_of_server(config, name, server.timeout);
    for (const auto& [tool, x] : server.tools) {
      if (x.timeout <= duration{}) continue;
      const auto as = mcp::tool_name(name, tool);
      const bool own = config.origins.contains("tools." + as + ".timeout");
      auto& limits = config.tools.by_name
                         .try_emplace(as, config::with_tool_defaults(
                                              as, config.tools.of(as)))
                         .first->second;
      if (!own) limits.timeout = x.timeout;
    }
  }
}

}  // namespace riffle
