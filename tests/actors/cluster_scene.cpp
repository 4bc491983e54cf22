// SPDX-License-Identifier: MIT
#include "tests/actors/cluster_scene.hpp"

#include <utility>

namespace riffle::testing {

namespace {

/// Passes on what it gets, as if the other line's end had said it.
struct line_end_state {
  caf::actor to;
  caf::actor as;
  line_state at = line_state::open;
  std::deque<caf::message> held;
  std::set<std::string>* crossed = nullptr;
};

std::string types_of(const caf::message& x, const caf::actor_system& system) {
  std::string out;
  for (std::size_t i = 0; i < x.size(); ++i)
    out += (i == 0 ? "" : " ") + system.types().portable_name(x.type(i));
  return out;
}

struct introduce {
  caf::actor to;
  caf::actor as;
};

caf::behavior line_end(caf::stateful_actor<line_end_state>* self,
                       std::set<std::string>* crossed) {
  self->state.crossed = crossed;
  self->set_default_handler(
      [](caf::scheduled_actor* me,
         caf::message_view& x) -> caf::result<caf::message> {
        auto* line = static_cast<caf::stateful_actor<line_end_state>*>(me);
        auto& st = line->state;
        auto content = x.move_content_to_message();
        st.crossed->insert(types_of(content, me->system()));
        if (st.at == line_state::held)
          st.held.push_back(std::move(content));
        else if (st.at == line_state::open)
          caf::send_as(st.as, st.to, std::move(content));
        return caf::message{};
      });
  return {
      [self](introduce& x) {
        self->state.to = std::move(x.to);
        self->state.as = std::move(x.as);
      },
      [self](const set_line& x) {
        auto& st = self->state;
        st.at = x.to;
        if (x.to != line_state::open) return;
        for (auto& one : st.held) caf::send_as(st.as, st.to, std::move(one));
        st.held.clear();
      },
  };
}

}  // namespace

}  // namespace riffle::testing

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::testing::introduce)

namespace riffle::testing {

std::string frozen_messages() {
  const std::string base{"riffle::cluster::"};
  std::string out;
  for (const auto* x : {"hello", "terms", "refusal", "offers", "ping", "pong",
                        "fenced", "ask_status", "ask_drain", "status"})
    out += base + x + "\n";
  for (const auto* x :
       {"work::assignment", "work::stop", "work::ack", "cluster::piece_ack",
        "cluster::taken", "work::started", "work::progress", "work::done",
        "work::lost", "cluster::piece"})
    out += base + "tag riffle::" + x + "\n";
  return out;
}

cluster_scene::cluster_scene(std::string node_group, node_times of_node,
                             std::optional<std::string> unused)
    : times{of_node}, why_unused{std::move(unused)} {
  register_cluster(config);
  config.set("scheduler.policy", caf::atom("testing"));
  system = std::make_unique<caf::actor_system>(config);
  work = std::make_shared<run_work>([](const call_id&, std::uint32_t) {});
  works->add({"run_1"}, work);
  dispatcher = system->spawn(
      [](work_listener::pointer,
         cluster_scene* x) -> work_listener::behavior_type {
        return {[x](work::started& y) { x->started.push_back(std::move(y)); },
                [x](work::done& y) { x->dones.push_back(std::move(y)); },
                [x](work::lost& y) { x->losts.push_back(std::move(y)); }};
      },
      this);
  muxer = system->spawn(
      [](progress_listener::pointer self,
         cluster_scene* x) -> progress_listener::behavior_type {
        return {[self, x](work::progress& y) {
          const work::ack room{y.id};
          x->reports.push_back(std::move(y));
          caf::send_as(caf::actor_cast<caf::actor>(self),
                       caf::actor_cast<caf::actor>(self->current_sender()),
                       room);
        }};
      },
      this);
  line_to_node = system->spawn(line_end, &crossed);
  line_to_origin = system->spawn(line_end, &crossed);
  make_node(node_group);
  make_origin();
  caf::anon_send(line_to_node, introduce{node, line_to_origin});
  caf::anon_send(line_to_origin, introduce{origin, line_to_node});
  settle();
  pass(std::chrono::milliseconds{100});
}

void cluster_scene::make_origin() {
  gate_setup gate;
  gate.me.group = "riffle";
  gate.me.name = "origin";
  gate.me.instance = "o1";
  gate.join = {"node:1"};
  gate.join_timeout = times.join_timeout;
  gate.dial = [this](const std::string& address, const caf::actor& to) {
    ++dials;
    caf::anon_send(
        to, dialed{address,
                   caf::actor_cast<caf::strong_actor_ptr>(line_to_node), ""});
  };
  gate.board = board;
  gate.works = works;
  gate.spawn_pool = [this](const std::string& tool, const std::string&,
                           worker_spawner spawn) {
    return system->spawn(tool_pool, tool, pool_limits{}, std::move(spawn));
  };
  gate.tell_pool = [this](const pool_of_node& x) {
    if (!x.failure.empty()) failed_pools.push_back(x.key);
    if (x.pool)
      pools[x.key] = x.pool;
    else
      pools.erase(x.key);
  };
  gate.on_tools = [this](const auto& all) { tools = all; };
  gate.on_known = [this] { tools_when_known.push_back(tools.size()); };
  gate.on_nodes = [this](const auto& all) { nodes = all; };
  gate.keep_piece = [this](const call_id& id, const cluster::piece& x,
                           const std::function<void(bool)>& done) {
    auto keep = [this, id, x, done] {
      if (refuse_pieces) return done(false);
      if (x.bytes.empty()) kept.erase(id.value);
      if (x.bytes.empty()) return done(false);
      auto& text = kept[id.value];
      text.resize(
          std::max<std::size_t>(text.size(), x.offset + x.bytes.size()));
      text.replace(x.offset, x.bytes.size(), x.bytes);
      done(true);
    };
    if (hold_pieces)
      asked_to_keep.emplace_back(id.value, std::move(keep));
    else
      keep();
  };
  if (why_unused)
    gate.refuses = [this](const cluster::tool_offer&) { return why_unused; };
  gate.make_token = [this] { return "token " + std::to_string(++tokens_); };
  gate.random01 = [] { return 0.5; };
  origin = system->spawn(cluster_gate, std::move(gate));
}

void cluster_scene::make_node(const std::string& group) {
  node_pool = system->spawn([this](caf::event_based_actor*) -> caf::behavior {
    return {[this](work::assignment& x, work_listeners& who) {
              const auto id = x.call.id.value;
              at_node[id] = {std::move(x), std::move(who)};
            },
            [this](const work::stop& x) { stopped.push_back(x.id.value); }};
  });
  gate_setup gate;
  gate.me.group = group;
  gate.me.name = "alpha";
  gate.me.instance = "n1";
  gate.me.labels = {"gpu"};
  gate.orphan_after = times.orphan_after;
  gate.host_grace = times.host_grace;
  gate.offers = {{.name = "look",
                  .description = "Looks",
                  .parameters = R"({"type":"object"})",
                  .places = 2}};
  gate.random01 = [] { return 0.5; };
  gate.watch.timeout = times.timeout;
  gate.on_drained = [this] { drained = true; };
  gate.on_drain_asked = [this] { ++drains_asked; };
  gate.spawn_host = [this](const caf::actor& to) {
    host_setup host;
    host.gate = to;
    host.pool = [this](const std::string& tool) {
      return tool == "look" ? caf::actor_cast<tool_pool_actor>(node_pool)
                            : tool_pool_actor{};
    };
    host.places = {{"look", 2}};
    host.board = std::make_shared<work_board>();
    host.leases = leases;
    host.admit = [this](tool_call& x) {
      x.limits.idle_timeout = idle_at_node;
      return refusal;
    };
    host.admits_aside = [this](const std::string&) { return hold_admissions; };
    host.aside = [this](std::function<void()> job) {
      if (!hold_admissions) return job();
      admissions.push_back(std::move(job));
    };
    host.whole_output = [this](const call_id&) {
      return std::exchange(output, nullptr);
    };
    return node_host = caf::actor_cast<caf::actor>(
               system->spawn(call_host, std::move(host)));
  };
  node = system->spawn(cluster_gate, std::move(gate));
}

cluster_scene::~cluster_scene() {
  for (const auto& who : {origin, node, line_to_node, line_to_origin, node_pool,
                          caf::actor_cast<caf::actor>(dispatcher),
                          caf::actor_cast<caf::actor>(muxer)})
    caf::anon_send_exit(who, caf::exit_reason::user_shutdown);
  at_node.clear();
  pools.clear();
  origin = node = line_to_node = line_to_origin = node_pool = node_host =
      nullptr;
  dispatcher = nullptr;
  muxer = nullptr;
  settle();
}

caf::scheduler::test_coordinator& cluster_scene::clockwork() const {
  return dynamic_cast<caf::scheduler::test_coordinator&>(system->scheduler());
}

void cluster_scene::keep_next() {
  auto next = std::move(asked_to_keep.front());
  asked_to_keep.pop_front();
  next.second();
  settle();
}

void cluster_scene::settle() { clockwork().run(); }

void cluster_scene::pass(duration x) {
  constexpr auto step = std::chrono::milliseconds{100};
  for (; x > duration{}; x -= step) {
    clockwork().advance_time(step);
    clockwork().run();
  }
}

void cluster_scene::stand_still(duration x) {
  clockwork().advance_time(x);
  clockwork().run();
}

void cluster_scene::set_line(line_state x) {
  for (const auto& line : {line_to_node, line_to_origin})
    caf::anon_send(line, testing::set_line{x});
  settle();
}

void cluster_scene::set_line_back(line_state x) {
  caf::anon_send(line_to_origin, testing::set_line{x});
  settle();
}

std::string cluster_scene::give(const std::string& id, effect eff,
                                std::uint32_t attempt, duration limit) {
  const auto where = board->choose("look", {"run_1"}, {"s"}, {id});
  if (!where) return "! " + where.error().message;
  const auto key = pool_key("look", *where);
  work::assignment x;
  x.run = run_id{"run_1"};
  x.epoch = work->epoch();
  x.attempt = attempt;
  x.call.id = call_id{id};
  x.call.tool = "look";
  x.call.eff = eff;
  x.call.idempotent = idempotent;
  x.call.limits.timeout = limit;
  x.call.arguments = "{}";
  work->hand_over(x.epoch, x.call.id, attempt);
  caf::anon_send(pools.at(key), std::move(x),
                 work_listeners{dispatcher, muxer});
  settle();
  return key;
}

void cluster_scene::stop(const std::string& id) {
  caf::anon_send(pools.at("look@alpha"), work::stop{call_id{id}, 1});
  settle();
}

void cluster_scene::answer(const std::string& id, const std::string& text) {
  const auto& call = at_node.at(id);
  work::done done{call.what.call.id, call.what.attempt};
  done.result.output = text;
  done.last_progress = 0;
  caf::anon_send(call.who.dispatcher, std::move(done));
  settle();
}

const work::done* cluster_scene::done(const std::string& id) const {
  for (const auto& x : dones)
    if (x.id.value == id) return &x;
  return nullptr;
}

const work::lost* cluster_scene::lost(const std::string& id) const {
  for (const auto& x : losts)
    if (x.id.value == id) return &x;
  return nullptr;
}

}  // namespace riffle::testing
