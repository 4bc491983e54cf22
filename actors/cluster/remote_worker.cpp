// SPDX-License-Identifier: MIT
#include "actors/cluster/remote_worker.hpp"

#include <algorithm>
#include <utility>

#include "actors/cluster/output_stream.hpp"
#include "actors/handler.hpp"
#include "messages/duration_text.hpp"
#include "runtime/base/log.hpp"

namespace riffle {

namespace {

/// A node says at once that it has a call; what is late is not lost.
constexpr auto take_limit = std::chrono::seconds{10};

}  // namespace

void remote_worker_state::on(work::assignment& x, work_listeners& who) {
  const auto id = x.call.id;
  if (!lost.empty()) return give_back(id, x.attempt, who.dispatcher, lost);
  auto work = setup.board->find(x.run);
  if (!work || !work->begin(x.epoch, id, x.attempt)) {
    work::done done{id, x.attempt};
    done.result.how = outcome::cancelled;
    done.result.err = error{errc::cancelled, name,
                            "the call was stopped before a node had it"};
    done.last_progress = 0;
    self->send(who.dispatcher, std::move(done));
    self->send(pool, work::freed{id});
    return;
  }
  auto token = setup.make_token();
  tokens.emplace(token, id);
  calls.insert_or_assign(
      id, given{token, x.attempt, x.call.eff, std::move(who), std::move(work)});
  self->send(
      setup.gate,
      give_call{setup.link, {setup.epoch, std::move(token)}, std::move(x)});
  self->delayed_send(self, take_limit, not_taken{id, calls.at(id).attempt});
}

void remote_worker_state::on(const cluster::tag& tag, const cluster::taken&) {
  if (const auto i = tokens.find(tag.token); i != tokens.end())
    calls.at(i->second).taken = true;
}

/// Whether it acts is not known: all that the node has of us is given up, as if
/// it were silent.
void remote_worker_state::on(const not_taken& x) {
  const auto i = calls.find(x.id);
  if (i == calls.end() || i->second.attempt != x.attempt || i->second.taken)
    return;
  if (lost.empty()) self->send(setup.gate, deaf_node{setup.link, setup.epoch});
}

/// It did not begin: it is placed anew.
void remote_worker_state::give_back(const call_id& id, std::uint32_t attempt,
                                    const work_listener& to,
                                    const std::string& why) {
  work::done back{id, attempt};
  back.result.how = outcome::failed;
  back.result.err = error{errc::tool_unavailable, name, why, true};
  back.last_progress = 0;
  back.moved = true;
  self->send(to, std::move(back));
  self->send(pool, work::freed{id});
}

void remote_worker_state::on(const call_refused& x) {
  const auto token = tokens.find(x.token);
  if (token == tokens.end()) return;
  const auto id = token->second;
  const auto& call = calls.at(id);
  const auto attempt = call.attempt;
  const auto to = call.who.dispatcher;
  forget(id);
  give_back(id, attempt, to, x.reason);
}

void remote_worker_state::on(const work::stop& x) {
  const auto i = calls.find(x.id);
  if (i != calls.end() && i->second.attempt == x.attempt)
    say(i->second.token, work::stop{x});
}

void remote_worker_state::on(const work::ack& x) {
  if (const auto i = calls.find(x.id); i != calls.end())
    say(i->second.token, work::ack{x});
}

remote_worker_state::given* remote_worker_state::find(const cluster::tag& tag,
                                                      const call_id& id) {
  const auto token = tokens.find(tag.token);
  if (token == tokens.end() || token->second != id) return nullptr;
  return &calls.at(id);
}

void remote_worker_state::forget(const call_id& id) {
  const auto i = calls.extract(id);
  if (!i) return;
  auto& x = i.mapped();
  x.work->end(id, x.attempt);
  tokens.erase(x.token);
  self->send(setup.gate, drop_token{setup.link, x.token});
  if (orphan && calls.empty()) self->quit();
}

void remote_worker_state::on(const cluster::tag& tag, work::started& x) {
  if (auto* call = find(tag, x.id); call && call->attempt == x.attempt)
    self->send(call->who.dispatcher, std::move(x));
}

void remote_worker_state::on(const cluster::tag& tag, work::progress& x) {
  auto* call = find(tag, x.id);
  if (call == nullptr || call->attempt != x.attempt) return;
  x.tool = setup.tool;
  call->reported = std::max(call->reported, x.number);
  self->send(call->who.muxer, std::move(x));
}

void remote_worker_state::on(const cluster::tag& tag, work::done& x) {
  auto* call = find(tag, x.id);
  if (call == nullptr || call->attempt != x.attempt) return;
  const auto dispatcher = call->who.dispatcher;
  const auto id = x.id;
  // The node has it, or had it, and this process has not.
  if (call->cut || !call->pieces) say_it_is_cut(x.result);
  forget(id);
  self->send(dispatcher, std::move(x));
  self->send(pool, work::freed{id});
}

/// The node's own worker died: the node replaces it, and has a circuit breaker.
void remote_worker_state::on(const cluster::tag& tag, work::lost& x) {
  const auto* call = find(tag, x.id);
  if (call == nullptr || call->attempt != x.attempt) return;
  lose(call_id{x.id}, "on node " + setup.node + ": " + x.reason);
}

void remote_worker_state::lose(const call_id& id, std::string why) {
  const auto& call = calls.at(id);
  const auto dispatcher = call.who.dispatcher;
  work::lost said{id, call.attempt, std::move(why)};
  // Another attempt may say too little to come in pieces.
  if (call.pieces) setup.keep_piece(id, cluster::piece{}, [](bool) {});
  forget(id);
  self->send(dispatcher, std::move(said));
  self->send(pool, work::freed{id});
}

void remote_worker_state::on(const cluster::tag& tag, cluster::piece& x) {
  const auto token = tokens.find(tag.token);
  if (token == tokens.end()) return;
  if (!setup.keep_piece) return on(piece_kept{tag.token, false});
  calls.at(token->second).pieces = true;
  setup.keep_piece(
      token->second, std::move(x),
      [me = caf::actor_cast<caf::actor>(self), name = tag.token](bool kept) {
        caf::anon_send(me, piece_kept{name, kept});
      });
}

void remote_worker_state::on(const piece_kept& x) {
  const auto token = tokens.find(x.token);
  if (token != tokens.end() && !x.kept) calls.at(token->second).cut = true;
  say(x.token, cluster::piece_ack{!x.kept});
}

/// What only reads goes to another place at once. What changes something may
/// still act there, and is said to be lost when it cannot any more.
void remote_worker_state::on(link_lost& x) {
  if (!lost.empty()) return;
  lost = "the node " + setup.node + " is lost: " + x.reason;
  std::vector<call_id> reads;
  for (const auto& [id, call] : calls)
    if (call.eff == effect::read_only) reads.push_back(id);
  for (const auto& id : reads) lose(id, lost);
  if (calls.empty()) return self->quit();
  log_warn(name, lost + "; " + std::to_string(calls.size()) +
                     " calls that change something may still act there for " +
                     std::to_string(
                         std::chrono::duration_cast<std::chrono::milliseconds>(
                             x.may_act_for)
                             .count()) +
                     " ms");
  for (auto& [id, call] : calls) {
    work::progress said{id, call.attempt, ++call.reported, setup.tool, {}};
    said.report.message = lost + "; what it had may act for " +
                          duration_text(x.may_act_for) + " more";
    self->send(call.who.muxer, std::move(said));
  }
  self->delayed_send(self, x.may_act_for, tick{});
}

void remote_worker_state::on(const tick&) {
  std::vector<call_id> all;
  all.reserve(calls.size());
  for (const auto& [id, call] : calls) all.push_back(id);
  for (const auto& id : all) lose(id, lost);
  self->quit();
}

/// Nobody can stop its calls any more, or give it others: it ends with them.
void remote_worker_state::on(const caf::down_msg&) {
  orphan = true;
  if (calls.empty()) return self->quit();
  for (const auto& [id, call] : calls)
    say(call.token, work::stop{id, call.attempt});
}

caf::behavior remote_worker(caf::stateful_actor<remote_worker_state>* self,
                            remote_setup setup, tool_pool_actor pool) {
  auto& st = self->state;
  st.setup = std::move(setup);
  st.pool = std::move(pool);
  log_exceptions(self);
  self->monitor(st.pool);
  self->set_down_handler(
      handle<const caf::down_msg>(self, "remote_worker.down"));
  work::offer offer;
  offer.tools.push_back(st.setup.tool);
  offer.places = st.setup.places;
  self->send(st.pool, std::move(offer));
  return {
      handle<work::assignment, work_listeners>(self,
                                               "remote_worker.assignment"),
      handle<const work::stop>(self, "remote_worker.stop"),
      handle<const work::ack>(self, "remote_worker.ack"),
      handle<const cluster::tag, const cluster::taken>(self,
                                                       "remote_worker.taken"),
      handle<const not_taken>(self, "remote_worker.not_taken"),
      handle<const cluster::tag, work::started>(self, "remote_worker.started"),
      handle<const cluster::tag, work::progress>(self,
                                                 "remote_worker.progress"),
      handle<const cluster::tag, work::done>(self, "remote_worker.done"),
      handle<const cluster::tag, work::lost>(self, "remote_worker.lost"),
      handle<const cluster::tag, cluster::piece>(self, "remote_worker.piece"),
      handle<const call_refused>(self, "remote_worker.call_refused"),
      handle<const piece_kept>(self, "remote_worker.piece_kept"),
      handle<link_lost>(self, "remote_worker.link_lost"),
      handle<const tick>(self, "remote_worker.tick"),
  };
}

}  // namespace riffle
