// SPDX-License-Identifier: MIT
#include "runtime/node/node.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "actors/end_reason.hpp"
#include "messages/type_ids.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/config/home.hpp"
#include "runtime/config/model_checks.hpp"
#include "runtime/model/http_transport.hpp"
#include "runtime/model/rate_limited_transport.hpp"
#include "runtime/model/scripted_transport.hpp"
#include "runtime/node/hosted_calls.hpp"
#include "runtime/node/hosted_outputs.hpp"
#include "runtime/node/mcp_part.hpp"
#include "runtime/node/worker_tool.hpp"
#include "runtime/scheduler/lifo_slot.hpp"
#include "runtime/storage/owner.hpp"
#include "tools/process/guard.hpp"

namespace riffle {

namespace {

constexpr const char* op = "node";

/// Longest wait for what a dead runtime left behind.
constexpr auto guard_deadline = std::chrono::seconds{15};

struct system_config : caf::actor_system_config {
  system_config(const config::runtime_config& runtime,
                const std::optional<cluster::net_options>& net) {
    register_cluster(*this);
    if (net) cluster::prepare(*this, *net);
    if (runtime.scheduler == "lifo_slot") use_lifo_slot(*this);
    set("scheduler.max-threads", scheduler_threads(runtime));
  }
};

guard_waiter make_guard_waiter(const std::filesystem::path& dir,
                               const config::config& config,
                               std::shared_ptr<storage::journal> journal) {
  return [dir, wait = node_wait(config, std::move(journal))](
             const storage::call_record& call) -> std::optional<error> {
    wait(call);
    if (dir.empty()) return {};
    // A read-only call may have begun one attempt more than is on record.
    for (auto n = std::max(1u, call.attempt); n <= call.attempt + 1; ++n) {
      auto freed = tools::wait_for_guard(
          guard_file(dir, call.call.id, n),
          std::chrono::steady_clock::now() + guard_deadline);
      if (!freed) return freed.error();
    }
    return {};
  };
}

}  // namespace

struct node::system {
  system(const config::runtime_config& runtime,
         const std::optional<cluster::net_options>& net)
      : config{runtime, net}, actors{config} {}

  system_config config;
  caf::actor_system actors;
};

expected<std::unique_ptr<node>> node::create(config::config config,
                                             node_parts parts) {
  if (auto ok = try_threads(config.runtime); !ok)
    return unexpected{std::move(ok.error())};
  std::unique_ptr<node> made{new node{std::move(config)}};
  auto done = made->compose(std::move(parts));
  if (!done) return unexpected{std::move(done.error())};
  return made;
}

namespace {

/// One workspace for all tools; an application sets the default one.
std::shared_ptr<const config::config> finish_config(config::config x) {
  for (auto& [name, tool] : x.tools.by_name)
    tool.workspace = x.tools.defaults.workspace;
  add_mcp_limits(x);
  return std::make_shared<const config::config>(std::move(x));
}

}  // namespace

node::node(config::config config) : config_{finish_config(std::move(config))} {}

/// Its order: runs settle, actors are asked to end, threads of tools get their
/// time, then what did not end is killed, and what that does not end is left
/// behind. Each with a limit.
node::~node() {
  if (specs_) specs_->close();
  close(std::chrono::seconds{5});
  inline_run_->close();
  if (lent_) lent_->close();
  if (!system_) return;
  if (vitals_) vitals_->stop_watching();
  end_actors(caf::exit_reason::user_shutdown);
  cluster_.reset();
  end_servers();
  const bool clean = close_executors();
  const bool ended = clean && await_actors();
  if (ended && !failure()) let_go_of_runs();
  if (door_) door_->cut();
  registry_actor_ = nullptr;
  store_ = nullptr;
  inbox_ = nullptr;
  pools_.clear();
  // What still runs refers to its actors: then they stay until the process
  // ends, and with them what their transports use.
  if (!ended) {
    keep_for_ever(timer_);
    static_cast<void>(system_.release());
  }
}

/// In the opposite of the order in which they were started.
void node::end_actors(caf::exit_reason how) {
  const std::lock_guard lock{pools_mutex_};
  caf::anon_send_exit(registry_actor_, how);
  for (auto& [name, pool] : pools_) caf::anon_send_exit(pool, how);
  caf::anon_send_exit(inbox_, how);
  caf::anon_send_exit(store_, how);
  if (cluster_) cluster_->end(how);
  closing_ = true;  // no pool comes back
}

/// False: some do not even obey a kill; they are in a call that never returns.
bool node::await_actors() {
  const auto none_left = [this](duration limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (system_->actors.registry().running() > 0) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return true;
  };
  if (none_left(std::chrono::seconds{5})) return true;
  log_warn(op, "actors do not end in time and are killed");
  end_actors(caf::exit_reason::kill);
  if (none_left(std::chrono::seconds{1})) return true;
  log_error(op, std::to_string(system_->actors.registry().running()) +
                    " actors do not end: they are left behind");
  return false;
}

/// The file is written on the executor: nothing blocks an actor.
health_listener node::health_listener_for() const {
  if (!health_) return {};
  return [board = health_, blocking = side_executor_](const std::string& tool,
                                                      const std::string& why) {
    board->note(tool, why);
    blocking->submit([board] { board->publish(); });
  };
}

// -- putting together ---------------------------------------------------------

expected<void> node::open_data(bool offers, std::filesystem::path& guard_dir,
                               std::filesystem::path& output_dir) {
  const auto named = config::data_folder(config_->runtime);
  if (!named) return unexpected{named.error()};
  const auto& data_dir = *named;
  const auto mode = config_->runtime.durability == "disk"
                        ? storage::durability::disk
                        : storage::durability::process;
  auto opened = storage::open_sqlite_journal(data_dir, mode);
  if (!opened) return unexpected{std::move(opened.error())};
  journal_ = std::move(*opened);
  health_ = std::make_shared<storage::health_registry>(data_dir / "service");
  guard_dir = data_dir / "guards";
  output_dir = data_dir / "outputs";
  volley_locks_ = data_dir / "volleys";
  for (const auto& folder : {guard_dir, output_dir})
    if (auto made = storage::make_private_folder(folder); !made)
      return unexpected{std::move(made.error())};
  if (!offers) return {};
  auto own = hosted_outputs::open(data_dir / "hosted");
  if (!own) return unexpected{std::move(own.error())};
  hosted_ = std::move(*own);
  output_dir = hosted_->folder();
  return {};
}

expected<void> node::compose(node_parts parts) {
  faults_ = parts.faults ? std::move(parts.faults) : faults_for_tests;
  if (parts.transport)
    lent_ = model::make_lent_transport(std::move(parts.transport));
  init_log(config_->runtime.log.level, config_->runtime.log.format);
  if (parts.owns_process) own_process(*config_);
  std::error_code gone;
  workspace_ =
      std::filesystem::absolute(config_->tools.defaults.workspace, gone);
  if (gone)
    return unexpected{error{errc::invalid_config, op,
                            "tools.workspace: the working folder of this "
                            "process cannot be used: " +
                                gone.message()}};
  journal_ = std::move(parts.journal);
  std::filesystem::path guard_dir;
  std::filesystem::path output_dir;
  if (!journal_)
    if (auto ok = open_data(parts.offers, guard_dir, output_dir); !ok)
      return ok;
  if (parts.offers) {
    auto plain = make_plain_registry(*config_, parts.tools);
    if (!plain) return unexpected{std::move(plain.error())};
    config_ = with_processes(*config_, **plain);
  }
  auto registry = make_registry(*config_, std::move(parts.tools));
  if (!registry) return unexpected{std::move(registry.error())};
  registry_ = std::move(*registry);
  tools_ = std::make_shared<tools::catalog>(registry_);
  std::optional<cluster::net_options> net;
  if (config_->cluster.used()) {
    auto options = net_options_of(*config_);
    if (!options) return unexpected{std::move(options.error())};
    net = std::move(*options);
  }
  warm_up_tools(*registry_, guard_dir);
  open_executors();
  outputs_ = output_dir;
  if (net) {
    nodes_ = std::make_shared<node_board>();
    set_rules(*nodes_, *config_, *registry_);
  }
  if (auto ok = open_servers(guard_dir); !ok) return ok;
  connect(std::move(parts.scripts));
  system_ = std::make_unique<system>(config_->runtime, net);
  if (config_->runtime.scheduler == "lifo_slot")
    inline_run_->open(system_->actors);
  on_commit([] {});
  spawn_actors(guard_dir, output_dir);
  return net ? join_cluster(parts, *net) : expected<void>{};
}

expected<void> node::join_cluster(const node_parts& parts,
                                  const cluster::net_options& net) {
  cluster_part::parts x;
  x.config = config_;
  x.net = net;
  x.net.around_reads = [inlined = inline_run_](const auto& work) {
    inlined->run(work, carriers);
  };
  x.own = registry_;
  x.tools = tools_;
  x.board = nodes_;
  x.works = works_;
  x.leases = leases_;
  x.aside = side_executor_;
  x.outputs = outputs_;
  x.find_pool = [this](const std::string& tool) {
    const std::lock_guard lock{pools_mutex_};
    const auto found = pools_.find(tool);
    return found == pools_.end() ? tool_pool_actor{} : found->second;
  };
  x.registry = registry_actor_;
  x.on_service = health_listener_for();
  x.offers = parts.offers;
  x.program = parts.program;
  x.faults = faults_;
  auto made = cluster_part::start(system_->actors, std::move(x));
  if (!made) return unexpected{std::move(made.error())};
  watch((*made)->gate(), "cluster gate");
  const std::lock_guard lock{pools_mutex_};
  cluster_ = std::move(*made);
  return {};
}

void node::connect(std::map<std::string, std::string> scripts) {
  service::spec_maker::parts x;
  x.journal = journal_;
  x.tools = tools_;
  x.nodes = nodes_;
  x.servers = servers_;
  x.ids = std::make_shared<id_source>();
  x.looks = look_executor_;
  x.clock = timer_;
  x.waits = waiting_executor_;
  x.scripts = std::move(scripts);
  x.outputs = outputs_;
  x.lent = lent_;
  x.around_listeners = [inlined = inline_run_](const auto& work) {
    inlined->run(work);
  };
  x.faults = faults_;
  specs_ = std::make_shared<service::spec_maker>(config_, std::move(x));
}

void node::spawn_actors(const std::filesystem::path& guard_dir,
                        const std::filesystem::path& output_dir) {
  auto& actors = system_->actors;
  store_ = spawn_session_store(
      actors, {}, journal_, waiting_executor_,
      guard_dir.empty() && !nodes_
          ? guard_waiter{}
          : make_guard_waiter(guard_dir, *config_, journal_),
      faults_);
  inbox_setup decisions{journal_, [specs = specs_](const auto& cause) {
                          return specs->make_for(cause);
                        }};
  decisions.blocking = spec_executor_;
  decisions.faults = faults_;
  inbox_ = spawn_command_inbox(actors, {}, std::move(decisions));
  worker_setup setup;
  setup.board = works_;
  if (nodes_)
    setup.lease_of = [all = leases_](const call_id& x) { return all->find(x); };
  setup.blocking = blocking_;
  const auto lent = [inlined = inline_run_](lender whose) {
    return [=](const auto& work) { inlined->run(work, {}, whose); };
  };
  setup.run_inline = lent(lender::spare);
  setup.begin_inline = lent(lender::begins);
  if (nodes_)
    setup.report_inline = [inlined = inline_run_](const auto& work) {
      inlined->run(work, report_carriers);
    };
  setup.workspace = workspace_;
  setup.guard_dir = guard_dir;
  setup.output_dir = output_dir;
  setup.faults = faults_;
  open_front_door(std::move(setup));
}

void node::open_front_door(worker_setup setup) {
  auto& actors = system_->actors;
  registry_setup front;
  front.board = setup.board;
  front.on_service = health_listener_for();
  front.spawn_pool =
      [this, spawn = make_pool_spawner(actors, tool_finder(), config_->tools,
                                       config_->supervision, std::move(setup),
                                       front.on_service)](
          const std::string& tool) -> tool_pool_actor {
    const std::lock_guard lock{pools_mutex_};
    if (closing_) return {};
    return pools_[tool] = spawn(tool);
  };
  spawn_pools(*registry_, spawn_pool_ = front.spawn_pool);
  front.store = store_;
  front.inbox = inbox_;
  front.pools = pools_;
  front.supervision = config_->supervision;
  front.max_runs = config_->runtime.max_runs;
  front.making = late_executor_;
  front.faults = faults_;
  const auto least = nodes_ ? 2 * timeout_with_nodes(*config_) : duration{};
  front.abandon_deadline = std::max(front.abandon_deadline, least);
  registry_actor_ = spawn_run_registry(actors, std::move(front));
  vitals_ = std::make_shared<service::vitals>(
      [this] { end_actors(caf::exit_reason::user_shutdown); });
  watch(store_, "session store");
  watch(inbox_, "command inbox");
  watch(registry_actor_, "run registry");
  door_ = std::make_shared<service::front_door>(actors, registry_actor_, inbox_,
                                                vitals_);
}

template <class Actor>
void node::watch(const Actor& who, const char* what) {
  caf::actor_cast<caf::abstract_actor*>(who)->attach_functor(
      [to = vitals_, what](const caf::error& reason) {
        to->on_death(what, describe_end(reason));
      });
}

void node::on_commit(std::function<void()> f) {
  journal_->complete_within(
      [inlined = inline_run_, f = std::move(f)](const auto& work) {
        inlined->run(work);
        f();
      });
}

bool node::close(duration limit) { return !door_ || door_->close(limit); }

}  // namespace riffle
