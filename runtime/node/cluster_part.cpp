// SPDX-License-Identifier: MIT
#include "runtime/node/cluster_part.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <unistd.h>
#include <utility>

#include <openssl/rand.h>

#include "actors/cluster/call_host.hpp"
#include "actors/core/control_tools.hpp"
#include "actors/tools/call_policy.hpp"
#include "runtime/base/encoding.hpp"
#include "runtime/base/id_source.hpp"
#include "runtime/base/log.hpp"
#include "runtime/config/cluster_checks.hpp"
#include "runtime/config/home.hpp"
#include "runtime/node/hosted_calls.hpp"
#include "runtime/service/run_folder.hpp"
#include "tools/remote_tool.hpp"

namespace riffle {

namespace {

constexpr const char* op = "cluster";

std::string host_name() {
  std::array<char, 256> text{};
  if (::gethostname(text.data(), text.size() - 1) != 0) return "node";
  const std::string name{text.data()};
  return config::is_node_name(name) ? name : "node";
}

/// 128 bits that nobody guesses.
std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (::RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    throw std::runtime_error{"there are no random numbers"};
  return hex_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::function<double()> make_random() {
  auto engine = std::make_shared<std::mt19937_64>(std::random_device{}());
  return [engine] { return std::uniform_real_distribution<double>{}(*engine); };
}

/// Of a net that outlives its gate.
std::function<void(const std::string&, caf::actor)> dial_by(cluster::net& net) {
  return [&net](const std::string& address, const caf::actor& to) {
    const auto [host, port] = config::split_address(address);
    net.dial(
        host, port,
        [to, address](caf::strong_actor_ptr found, const std::string& problem) {
          caf::anon_send(to, dialed{address, std::move(found), problem});
        },
        [to, address] { caf::anon_send(to, dial_connected{address}); });
  };
}

/// What a call on this node may take from SIGTERM to its end.
duration longest_grace(const config::config& config,
                       const std::vector<cluster::tool_offer>& offers) {
  duration out{};
  for (const auto& one : offers)
    out = std::max<duration>(out, config.tools.of(one.name).kill_grace);
  return out;
}

}  // namespace

/// What other threads ask for.
struct cluster_part::shared {
  std::mutex mutex;
  std::vector<node_view> nodes;
  std::function<void()> drained;
  std::function<void()> drain_asked;

  void call(std::function<void()> shared::* what) {
    std::function<void()> f;
    {
      const std::lock_guard lock{mutex};
      f = this->*what;
    }
    if (f) f();
  }
};

expected<cluster::net_options> net_options_of(const config::config& config) {
  const auto& x = config.cluster;
  cluster::net_options out;
  out.max_frame = x.max_frame;
  out.silence = 2 * x.timeout;
  const auto whole = [&](const std::string& file) {
    return config::resolve_home(file).value_or(file);
  };
  if (x.tls.certificate.empty()) return out;
  out.tls = {whole(x.tls.certificate), whole(x.tls.key), whole(x.tls.ca)};
  if (auto ok = cluster::check_tls(out.tls); !ok)
    return unexpected{std::move(ok.error())};
  return out;
}

cluster::hello hello_of(const config::config& config,
                        const std::string& program, bool observer) {
  cluster::hello out;
  out.program = program;
  out.group = config.cluster.group;
  out.name = config.cluster.name.empty() ? host_name() : config.cluster.name;
  out.instance = id_source{}.make("proc_");
  out.observer = observer;
  out.labels = config.node.labels;
  out.since_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count();
  return out;
}

duration timeout_with_nodes(const config::config& config) {
  const auto& x = config.cluster;
  return x.timeout + x.heartbeat + service::node_timeout(config);
}

void set_rules(node_board& board, const config::config& config,
               const tools::registry& own) {
  board.set_timeout(timeout_with_nodes(config));
  const auto rule_of = [&](const std::string& name) {
    const auto& x = config.tools.of(name);
    return core::placement_rule{x.nodes, x.sticky == "session",
                                own.find(name) != nullptr, x.concurrency};
  };
  for (const auto& name : own.names())
    if (!core::is_control_tool(name)) board.set_rule(name, rule_of(name));
  for (const auto& [name, tool] : config.tools.by_name)
    if (own.find(name) == nullptr) board.set_rule(name, rule_of(name));
  for (const auto& [name, agent] : config.agents)
    for (const auto& tool : agent.tools)
      if (own.find(tool) == nullptr) board.set_rule(tool, rule_of(tool));
}

expected<std::vector<cluster::tool_offer>> cluster_part::offers_of(
    const parts& x) {
  std::vector<cluster::tool_offer> out;
  if (!x.offers) return out;
  for (const auto& name : x.config->node.tools) {
    const auto* tool = x.own->find(name);
    if (tool == nullptr || core::is_control_tool(name))
      return unexpected{error{errc::invalid_config, op,
                              "node.tools: there is no tool `" + name +
                                  "` that could run for others"}};
    if (auto offer = offer_of(**tool, x.config->tools))
      out.push_back(std::move(*offer));
    else
      log_warn(op, "`" + name +
                       "` is not offered: the configuration denies its calls");
  }
  return out;
}

/// What nodes offer becomes tools, pools and places of this process.
void cluster_part::use_others(gate_setup& gate, caf::actor_system& system,
                              const parts& x) {
  gate.board = x.board;
  gate.works = x.works;
  gate.refuses = [own = x.own,
                  config = x.config](const cluster::tool_offer& offer) {
    return why_unused(offer, *own, config->tools);
  };
  gate.spawn_pool = [&system, config = x.config, told = x.on_service](
                        const std::string& tool, const std::string& node,
                        worker_spawner spawn) {
    const auto& rules = config->supervision;
    pool_limits limits;
    limits.abandon_after =
        std::max(limits.abandon_after, timeout_with_nodes(*config));
    limits.service = {rules.intensity,
                      rules.period,
                      {rules.backoff_base, rules.backoff_cap},
                      rules.cool_down,
                      config->tools.of(tool).abandoned_limit};
    if (told)
      limits.on_service = [told, node](const std::string& name,
                                       const std::string& why) {
        told(pool_key(name, node), why);
      };
    return system.spawn(tool_pool, tool, limits, std::move(spawn));
  };
  gate.tell_pool = [registry = x.registry](const pool_of_node& what) {
    caf::anon_send(registry, what);
  };
  gate.on_tools = [tools =
                       x.tools](const std::vector<cluster::tool_offer>& all) {
    std::vector<tools::tool_ptr> made;
    for (const auto& offer : all)
      made.push_back(tools::make_remote_tool(offer));
    tools->set_remote(made);
  };
  if (!x.config->cluster.join.empty())
    x.tools->expect_nodes(std::chrono::steady_clock::now() +
                          x.config->cluster.join_timeout);
  gate.on_known = [tools = x.tools] { tools->on_nodes_known(); };
  if (!x.outputs.empty()) gate.keep_piece = keep_in(x.outputs, x.aside);
}

expected<std::unique_ptr<cluster_part>> cluster_part::start(
    caf::actor_system& system, parts x) {
  auto offers = offers_of(x);
  if (!offers) return unexpected{std::move(offers.error())};
  std::unique_ptr<cluster_part> out{new cluster_part};
  out->offers_ = std::move(*offers);
  out->shared_ = std::make_shared<shared>();
  out->net_ = std::make_unique<cluster::net>(system, x.net);
  const auto& settings = x.config->cluster;
  gate_setup gate;
  gate.me = hello_of(*x.config, x.program, false);
  out->name_ = gate.me.name;
  gate.first_epoch = static_cast<std::uint64_t>(gate.me.since_ms / 1000);
  gate.join = settings.join;
  gate.join_timeout = settings.join_timeout;
  gate.watch = {settings.heartbeat, settings.timeout};
  gate.orphan_after = settings.orphan_after;
  gate.kill_grace = x.config->tools.defaults.kill_grace;
  gate.offers = out->offers_;
  gate.host_grace = longest_grace(*x.config, gate.offers);
  gate.make_token = random_token;
  gate.random01 = make_random();
  gate.faults = x.faults;
  gate.dial = dial_by(*out->net_);
  gate.on_nodes = [s = out->shared_](const std::vector<node_view>& all) {
    const std::lock_guard lock{s->mutex};
    s->nodes = all;
  };
  gate.on_drained = [s = out->shared_] { s->call(&shared::drained); };
  gate.on_drain_asked = [s = out->shared_] { s->call(&shared::drain_asked); };
  use_others(gate, system, x);
  // A node's start says it of itself (`riffle node`).
  if (out->offers_.empty() && x.net.tls.certificate.empty())
    log_warn(op,
             "without TLS (cluster.insecure) whoever has a port of "
             "cluster.join on this machine gets this process's calls, and "
             "answers them as they like");
  if (!out->offers_.empty())
    gate.spawn_host = make_host(system, x.config, x.own, x.works, x.leases,
                                x.find_pool, x.outputs, x.aside, out->offers_);
  out->gate_ = system.spawn(cluster_gate, std::move(gate));
  if (settings.listen.empty()) return out;
  const auto [host, port] = config::split_address(settings.listen);
  auto bound = out->net_->listen(host, port, out->gate_);
  if (!bound) {
    out->end(caf::exit_reason::user_shutdown);
    return unexpected{std::move(bound.error())};
  }
  out->port_ = *bound;
  return out;
}

cluster_part::~cluster_part() { end(caf::exit_reason::user_shutdown); }

void cluster_part::end(caf::exit_reason how) {
  if (gate_) caf::anon_send_exit(gate_, how);
}

std::vector<std::string> cluster_part::offered() const {
  std::vector<std::string> out;
  for (const auto& x : offers_) out.push_back(x.name);
  return out;
}

std::vector<node_view> cluster_part::nodes() const {
  const std::lock_guard lock{shared_->mutex};
  return shared_->nodes;
}

void cluster_part::drain(std::function<void()> done) {
  {
    const std::lock_guard lock{shared_->mutex};
    shared_->drained = std::move(done);
  }
  caf::anon_send(gate_, begin_drain{});
}

void cluster_part::stop_calls() { caf::anon_send(gate_, end_drain{}); }

void cluster_part::on_drain_asked(std::function<void()> f) {
  const std::lock_guard lock{shared_->mutex};
  shared_->drain_asked = std::move(f);
}

}  // namespace riffle
