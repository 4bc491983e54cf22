// SPDX-License-Identifier: MIT
#include "actors/cluster/call_host.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/circuit_breaker.hpp"
#include "actors/handler.hpp"
#include "messages/duration_text.hpp"
#include "runtime/base/log.hpp"

namespace riffle {

namespace {

/// Ids come from another process, and become names of files.
bool is_plain_word(const std::string& text) {
  constexpr std::size_t longest = 128;
  return !text.empty() && text.size() <= longest &&
         std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                  (c >= 'a' && c <= 'z') || c == '_' || c == '-';
         });
}

constexpr auto lease_is_over =
    "it was ended, for its origin was not heard for cluster.orphan_after";
constexpr auto drain_is_over =
    "it was told to end, and node.drain_timeout was over";

error not_offered(const std::string& tool) {
  return {errc::tool_unavailable, call_host_state::name,
          "this node does not offer `" + tool + "`"};
}

std::size_t bytes_of(const call_result& x) {
  auto out = x.output.size() + x.metadata.size();
  for (const auto& file : x.files) out += file.bytes.size();
  return out;
}

}  // namespace

// -- what an origin says ------------------------------------------------------

void call_host_state::on(from_origin& x) {
  x.content.apply(caf::message_handler{
      [&](work::assignment& y) { on_assignment(x, y); },
      [&](const work::stop& y) { on_stop(x, y); },
      [&](const work::ack&) { on_ack(x); },
      [&](const cluster::piece_ack& y) { on_piece_ack(x, y); },
  });
}

void call_host_state::on_assignment(from_origin& from, work::assignment& x) {
  const attempt_key key{x.call.id, x.attempt};
  const auto no = [&](error why, bool again = false) {
    refuse(from.link, from.tag, key, std::move(why), again);
  };
  if (x.version != work::version || !setup.pool(x.call.tool))
    return no(not_offered(x.call.tool));
  if (!is_plain_word(x.call.id.value) || !is_plain_word(x.run.value))
    return no({errc::invalid_request, name,
               "an id of a call or a run is letters, digits, \"_\" and "
               "\"-\", at most 128"});
  if (draining)
    return no({errc::tool_unavailable, name, "the node is being drained", true},
              true);
  if (calls.contains(key) || tokens.contains({from.link, from.tag.token}))
    return no(
        {errc::invalid_request, name, "the node has this attempt already"});
  x.workspace.clear();  // its own, whatever a peer says
  x.epoch = work_of(x.run)->epoch();
  ++runs[x.run];
  tokens.emplace(std::pair{from.link, from.tag.token}, key);
  calls.emplace(key, hosted{from.link, from.tag, x.run, x.call.tool});
  ++loads[x.call.tool].waiting;
  setup.leases->add(x.call.id, from.lease);
  say(calls.at(key), cluster::taken{});
  admit(call_admitted{from.link, from.tag, std::move(x), {}});
}

void call_host_state::on(call_admitted& x) {
  const auto token = tokens.find({x.link, x.tag.token});
  if (token == tokens.end()) return;  // stopped meanwhile
  const auto key = token->second;
  auto& call = calls.at(key);
  call.pool = setup.pool(call.tool);
  if (!x.refused && !call.pool) x.refused = not_offered(call.tool);
  if (x.refused) {
    refuse(x.link, x.tag, key, std::move(*x.refused));
    return forget(key);
  }
  call.limit = x.given.call.limits.timeout;
  call.idle = x.given.call.limits.idle_timeout;
  work_of(call.run)->hand_over(x.given.epoch, key.first, key.second);
  if (watched.insert(call.pool.address()).second) self->monitor(call.pool);
  tell_load();
  self->send(call.pool, std::move(x.given),
             work_listeners{caf::actor_cast<work_listener>(self),
                            caf::actor_cast<progress_listener>(self)});
}

void call_host_state::refuse(link_number link, const cluster::tag& tag,
                             const attempt_key& key, error why, bool again) {
  work::done done{key.first, key.second};
  switch (why.code) {
    case errc::approval_denied: done.result.how = outcome::denied; break;
    case errc::cancelled: done.result.how = outcome::cancelled; break;
    default: done.result.how = outcome::failed;
  }
  done.result.err = std::move(why);
  done.last_progress = 0;
  done.moved = again;
  self->send(setup.gate,
             to_peer{link, caf::make_message(tag, std::move(done))});
}

void call_host_state::on_stop(const from_origin& from, const work::stop& x) {
  const auto token = tokens.find({from.link, from.tag.token});
  if (token == tokens.end() || token->second != attempt_key{x.id, x.attempt})
    return;
  stop(attempt_key{token->second});
}

void call_host_state::stop(const attempt_key& key) {
  const auto& call = calls.at(key);
  if (call.pool)
    return self->send(call.pool, work::stop{key.first, key.second});
  if (!call.orphan && call.ended)
    refuse(call.link, call.tag, key,
           {errc::tool_unavailable, name, drain_is_over}, true);
  else if (!call.orphan)
    refuse(call.link, call.tag, key,
           {errc::cancelled, name, "the call was stopped before it began"});
  forget(key);
}

std::size_t call_host_state::stop_those(std::optional<link_number> link) {
  std::vector<attempt_key> found;
  for (const auto& [key, call] : calls)
    if (!link || call.link == *link) found.push_back(key);
  for (const auto& key : found) stop(key);
  return found.size();
}

void call_host_state::on_ack(const from_origin& from) {
  const auto token = tokens.find({from.link, from.tag.token});
  if (token == tokens.end()) return;
  const auto& call = calls.at(token->second);
  if (call.worker) self->send(call.worker, work::ack{token->second.first});
}

// -- what workers say ---------------------------------------------------------

call_host_state::hosted* call_host_state::find(const call_id& id,
                                               std::uint32_t attempt) {
  const auto i = calls.find({id, attempt});
  return i == calls.end() ? nullptr : &i->second;
}

void call_host_state::on(work::started& x) {
  auto* call = find(x.id, x.attempt);
  if (call == nullptr) return;
  if (!std::exchange(call->started, true)) {
    auto& load = loads[call->tool];
    --load.waiting;
    ++load.running;
    load.places = setup.places[call->tool];
  }
  if (call->limit > duration{})
    self->delayed_send(self, call->limit, call_overdue{x.id, x.attempt});
  call->last_sign = now();
  if (call->idle > duration{})
    self->delayed_send(self, call->idle, call_overdue{x.id, x.attempt, true});
  say(*call, std::move(x));
  tell_load();
}

/// The origin has limits of its own; these are the node's.
void call_host_state::on(const call_overdue& x) {
  auto* call = find(x.id, x.attempt);
  if (call == nullptr || call->overdue) return;
  const auto rest = call->last_sign + call->idle - now();
  if (x.idle && rest > duration{})  // it said something meanwhile
    return self->delayed_send(self, rest, call_overdue{x});
  call->overdue =
      error{errc::timeout, name,
            x.idle ? "the call was silent for longer than " +
                         duration_text(call->idle) +
                         ", the limit of its node (idle_timeout)"
                   : "the call took longer than " + duration_text(call->limit) +
                         ", the time limit of its node"};
  self->send(call->pool, work::stop{x.id, x.attempt});
}

void call_host_state::on(work::progress& x) {
  auto* call = find(x.id, x.attempt);
  if (call == nullptr) return;
  call->worker = caf::actor_cast<tool_worker_actor>(self->current_sender());
  call->last_sign = now();
  say(*call, std::move(x));
}

void call_host_state::on(work::done& x) {
  const attempt_key key{x.id, x.attempt};
  auto* call = find(x.id, x.attempt);
  if (call == nullptr) return;
  if (call->overdue && x.result.how != outcome::ok) {
    x.result.how = outcome::timed_out;
    x.result.err = call->overdue;
  }
  if (call->started && x.result.how != outcome::ok && outlived(x.id)) {
    work::lost said{x.id, x.attempt, lease_is_over};
    return on(said);
  }
  if (call->ended && x.result.how != outcome::ok) {
    if (call->started) {
      work::lost said{x.id, x.attempt, drain_is_over};
      return on(said);
    }
    x.result.err = error{errc::tool_unavailable, name, drain_is_over, true};
    x.result.how = outcome::failed;
  }
  // Its pool gave it to no worker, as its circuit breaker is open, or the node
  // ends: another one may.
  if (!call->started && x.result.err &&
      x.result.err->code == errc::tool_unavailable) {
    x.moved = true;
    // Until a call of it begins again.
    if (x.result.err->op == core::circuit_breaker::op)
      loads[call->tool].places = 0;
  }
  if (const auto bytes = bytes_of(x.result); bytes > setup.most_result) {
    x.result = {};
    x.result.how = outcome::failed;
    x.result.err =
        error{errc::tool_execution_error, name,
              "the result has " + std::to_string(bytes) +
                  " bytes, more than a node sends (cluster.max_frame)"};
  }
  auto output = setup.whole_output ? setup.whole_output(x.id) : nullptr;
  if (!output) log_if_cut(x);
  // On the link of an orphan nobody would ever say that there is room.
  if (!output || call->orphan) return finish(key, std::move(x));
  const auto token = call->tag.token;
  auto& end = endings[token];
  end = {key, call->link, std::move(x), std::move(output)};
  read_piece(token, end);
}

void call_host_state::finish(const attempt_key& key, work::done done) {
  auto* call = find(key.first, key.second);
  if (call == nullptr) return;
  say(*call, std::move(done));
  forget(key);
}

void call_host_state::on(work::lost& x) {
  const attempt_key key{x.id, x.attempt};
  auto* call = find(x.id, x.attempt);
  if (call == nullptr) return;
  say(*call, std::move(x));
  forget(key);
}

// -- the end ------------------------------------------------------------------

void call_host_state::forget(const attempt_key& key) {
  const auto i = calls.extract(key);
  if (!i) return;
  const auto& call = i.mapped();
  auto& load = loads[call.tool];
  --(call.started ? load.running : load.waiting);
  tokens.erase({call.link, call.tag.token});
  if (const auto end = endings.extract(call.tag.token)) {
    const auto& x = end.mapped();
    give_room(x.link, x.in_flight.size() + (x.reading ? 1 : 0));
  }
  setup.leases->remove(key.first);
  if (const auto run = runs.find(call.run); --run->second == 0) {
    runs.erase(run);
    setup.board->remove(call.run);
  }
  tell_load();
}

std::shared_ptr<run_work> call_host_state::work_of(const run_id& run) {
  if (auto known = setup.board->find(run)) return known;
  auto made = std::make_shared<run_work>(
      [](const call_id&, std::uint32_t) { /* whoever waits asks the node */ });
  setup.board->add(run, made);
  return made;
}

/// Nobody hears what its calls come to; they are ended by the ladder. A call
/// that has not begun never does. Nothing more is said of them: an origin that
/// stood still would take what the ladder did for what the call came to.
void call_host_state::on(const origin_lost& x) {
  for (auto& [key, call] : calls)
    call.orphan = call.orphan || call.link == x.link;
  for (auto& [token, end] : endings)  // nobody says that he has room
    if (end.link == x.link) give_up(end);
  windows.erase(x.link);
  if (const auto ended = stop_those(x.link))
    log_warn(name, std::to_string(ended) +
                       " calls are stopped: who gave them is lost (" +
                       x.reason + ")");
}

/// What had not begun never will: the pool that takes its place knows nothing
/// of it. What runs ends by itself, and its worker says so.
void call_host_state::on(const caf::down_msg& x) {
  watched.erase(x.source);
  std::vector<attempt_key> gone;
  for (const auto& [key, call] : calls)
    if (call.pool.address() == x.source && !call.started) gone.push_back(key);
  for (const auto& [id, attempt] : gone) {
    work::lost said{id, attempt, "its worker pool failed"};
    on(said);
  }
}

void call_host_state::on(const begin_drain&) {
  draining = true;
  tell_load();
}

/// By the ladder, and nobody asked for that: what only reads goes to another
/// node, of the rest it is unknown what it did.
void call_host_state::on(const end_drain&) {
  for (auto& [key, call] : calls) call.ended = true;
  stop_those({});
}

void call_host_state::tell_load() {
  host_load out;
  out.calls = calls.size();
  for (const auto& [tool, load] : loads) out.loads.push_back(load);
  self->send(setup.gate, std::move(out));
}

caf::behavior call_host(caf::stateful_actor<call_host_state>* self,
                        host_setup setup) {
  auto& st = self->state;
  st.setup = std::move(setup);
  log_exceptions(self);
  self->set_down_handler(handle<const caf::down_msg>(self, "call_host.down"));
  for (const auto& [tool, places] : st.setup.places)
    st.loads[tool] = {tool, places, 0, 0};
  st.tell_load();
  return {
      handle<from_origin>(self, "call_host.from_origin"),
      handle<work::started>(self, "call_host.started"),
      handle<work::progress>(self, "call_host.progress"),
      handle<work::done>(self, "call_host.done"),
      handle<work::lost>(self, "call_host.lost"),
      handle<call_admitted>(self, "call_host.call_admitted"),
      handle<const admission_overdue>(self, "call_host.admission_overdue"),
      handle<const call_overdue>(self, "call_host.call_overdue"),
      handle<piece_read>(self, "call_host.piece_read"),
      handle<const origin_lost>(self, "call_host.origin_lost"),
      handle<const begin_drain>(self, "call_host.begin_drain"),
      handle<const end_drain>(self, "call_host.end_drain"),
  };
}

}  // namespace riffle
