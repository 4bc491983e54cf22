// SPDX-License-Identifier: MIT
#include "actors/cluster/call_host.hpp"

#include <algorithm>
#include <utility>

#include "actors/handler.hpp"
#include "messages/duration_text.hpp"
#include "runtime/base/log.hpp"

namespace riffle {

namespace {

/// Of whole outputs: how large a part is, and how many are on their way: of one
/// call, and of all calls of a link. So what another call says waits for no
/// more than the latter.
constexpr std::size_t piece_bytes = 256u << 10;
constexpr std::size_t most_pieces = 4;
constexpr std::size_t most_pieces_of_link = 8;

/// Ids come from another process, and become names of files.
bool is_plain_word(const std::string& text) {
  constexpr std::size_t longest = 128;
  return !text.empty() && text.size() <= longest &&
         std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                  (c >= 'a' && c <= 'z') || c == '_' || c == '-';
         });
}

std::size_t bytes_of(const call_result& x) {
  auto out = x.output.size() + x.metadata.size();
  for (const auto& file : x.files) out += file.bytes.size();
  return out;
}

}  // namespace

// -- what an origin says ------------------------------------------------------

void call_host_state::on_from_origin(from_origin& x) {
  x.content.apply(caf::message_handler{
      [&](work::assignment& y) { on_assignment(x, y); },
      [&](const work::stop& y) { on_stop(x, y); },
      [&](const work::ack&) { on_ack(x); },
      [&](const cluster::piece_ack& y) { on_piece_ack(x, y); },
  });
}

void call_host_state::on_assignment(from_origin& from, work::assignment& x) {
  const attempt_key key{x.call.id, x.attempt};
  const auto pool = setup.pool(x.call.tool);
  if (x.version != work::version || !pool)
    return refuse(from, x,
                  {errc::tool_unavailable, name,
                   "this node does not offer `" + x.call.tool + "`"},
                  false);
  if (!is_plain_word(x.call.id.value) || !is_plain_word(x.run.value))
    return refuse(from, x,
                  {errc::invalid_request, name,
                   "an id of a call or a run is letters, digits, \"_\" and "
                   "\"-\", at most 128"},
                  false);
  if (draining)
    return refuse(
        from, x,
        {errc::tool_unavailable, name, "the node is being drained", true},
        true);
  if (calls.contains(key) || tokens.contains({from.link, from.tag.token}))
    return refuse(
        from, x,
        {errc::invalid_request, name, "the node has this attempt already"},
        false);
  if (auto why = setup.admit(x.call))
    return refuse(from, x, std::move(*why), false);
  auto work = work_of(x.run);
  x.workspace.clear();  // its own, whatever a peer says
  x.epoch = work->epoch();
  work->hand_over(x.epoch, x.call.id, x.attempt);
  ++runs[x.run];
  tokens.emplace(std::pair{from.link, from.tag.token}, key);
  calls.emplace(key, hosted{from.link, from.tag, x.run, x.call.tool, pool,
                            x.call.limits.timeout});
  if (watched.insert(pool.address()).second) self->monitor(pool);
  ++loads[x.call.tool].waiting;
  setup.leases->add(x.call.id, from.lease);
  tell_load();
  self->send(pool, std::move(x),
             work_listeners{caf::actor_cast<work_listener>(self),
                            caf::actor_cast<progress_listener>(self)});
}

/// `again`: it may run at another place.
void call_host_state::refuse(const from_origin& from, const work::assignment& x,
                             error why, bool again) {
  work::done done{x.call.id, x.attempt};
  done.result.how =
      why.code == errc::approval_denied ? outcome::denied : outcome::failed;
  done.result.err = std::move(why);
  done.last_progress = 0;
  done.moved = again;
  self->send(setup.gate,
             to_peer{from.link, caf::make_message(from.tag, std::move(done))});
}

void call_host_state::on_stop(const from_origin& from, const work::stop& x) {
  const auto token = tokens.find({from.link, from.tag.token});
  if (token == tokens.end() || token->second != attempt_key{x.id, x.attempt})
    return;
  const auto& call = calls.at(token->second);
  self->send(call.pool, work::stop{x});
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

void call_host_state::on_started(work::started& x) {
  auto* call = find(x.id, x.attempt);
  if (call == nullptr) return;
  if (!std::exchange(call->started, true)) {
    --loads[call->tool].waiting;
    ++loads[call->tool].running;
  }
  if (call->limit > duration{})
    self->delayed_send(self, call->limit, call_overdue{x.id, x.attempt});
  say(*call, std::move(x));
  tell_load();
}

/// The origin has a limit of its own; this is the node's.
void call_host_state::on_overdue(const call_overdue& x) {
  auto* call = find(x.id, x.attempt);
  if (call == nullptr) return;
  call->overdue = true;
  self->send(call->pool, work::stop{x.id, x.attempt});
}

void call_host_state::on_progress(work::progress& x) {
  auto* call = find(x.id, x.attempt);
  if (call == nullptr) return;
  call->worker = caf::actor_cast<tool_worker_actor>(self->current_sender());
  say(*call, std::move(x));
}

void call_host_state::on_done(work::done& x) {
  const attempt_key key{x.id, x.attempt};
  auto* call = find(x.id, x.attempt);
  if (call == nullptr) return;
  if (call->overdue && x.result.how != outcome::ok) {
    x.result.how = outcome::timed_out;
    x.result.err =
        error{errc::timeout, name,
              "the call took longer than " + duration_text(call->limit) +
                  ", the time limit of its node"};
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
  if (!output) return finish(key, std::move(x));
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

/// One after the other, off this thread; a few on their way at a time. The
/// result follows the last one.
void call_host_state::read_piece(const std::string& token, ending& x) {
  if (x.reading || x.closed || x.in_flight >= most_pieces) return;
  auto& of_link = pieces[x.link];
  if (of_link >= most_pieces_of_link) return;  // its turn comes with an ack
  ++of_link;
  x.reading = true;
  auto job = [me = caf::actor_cast<caf::actor>(self), from = x.output, token] {
    caf::anon_send(me, piece_read{token, from->next(piece_bytes)});
  };
  if (setup.aside)
    setup.aside(std::move(job));
  else
    job();
}

void call_host_state::on_piece_read(piece_read& x) {
  const auto i = endings.find(x.token);
  if (i == endings.end()) return;
  auto& end = i->second;
  auto* call = find(end.key.first, end.key.second);
  const bool was_reading = std::exchange(end.reading, false);
  if (x.bytes.empty()) end.closed = true;
  if (call != nullptr && !end.closed) {
    const auto size = x.bytes.size();
    say(*call, cluster::piece{end.offset, std::move(x.bytes)});
    end.offset += size;
    ++end.in_flight;
    read_piece(x.token, end);
  } else {
    give_room(end.link, was_reading ? 1 : 0);
  }
  end_if_sent(x.token);
}

/// To the call of the link that had to wait longest.
void call_host_state::give_room(link_number link, std::size_t pieces_done) {
  auto& of_link = pieces[link];
  of_link -= std::min(of_link, pieces_done);
  auto& last = last_served[link];
  for (std::size_t n = endings.size(); n > 0 && of_link < most_pieces_of_link;
       --n) {
    auto next = endings.upper_bound(last);
    if (next == endings.end()) next = endings.begin();
    last = next->first;
    if (next->second.link == link) read_piece(next->first, next->second);
  }
  if (of_link > 0) return;
  pieces.erase(link);
  last_served.erase(link);
}

void call_host_state::on_piece_ack(const from_origin& from,
                                   const cluster::piece_ack& x) {
  const auto i = endings.find(from.tag.token);
  if (i == endings.end()) return;
  auto& end = i->second;
  if (end.in_flight == 0) return;
  --end.in_flight;
  end.closed = end.closed || x.stop;
  give_room(end.link, 1);
  end_if_sent(from.tag.token);
}

/// What is on its way is not answered any more.
void call_host_state::give_up(ending& x) {
  x.closed = true;
  pieces[x.link] -= std::min(pieces[x.link], std::exchange(x.in_flight, 0));
  self->send(caf::actor_cast<caf::actor>(self),
             piece_read{calls.at(x.key).tag.token, {}});
}

void call_host_state::end_if_sent(const std::string& token) {
  const auto i = endings.find(token);
  if (i == endings.end()) return;
  const auto& end = i->second;
  if (!end.closed || end.reading || end.in_flight > 0) return;
  auto done = std::move(i->second);
  endings.erase(i);
  finish(done.key, std::move(done.done));
}

void call_host_state::on_lost(work::lost& x) {
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
    give_room(x.link, x.in_flight + (x.reading ? 1 : 0));
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
/// that has not begun never does.
void call_host_state::on_origin_lost(const origin_lost& x) {
  for (auto& [token, end] : endings)  // nobody says that he has room
    if (end.link == x.link) give_up(end);
  std::size_t ended = 0;
  for (const auto& [key, call] : calls) {
    if (call.link != x.link) continue;
    self->send(call.pool, work::stop{key.first, key.second});
    ++ended;
  }
  if (ended > 0)
    log_warn(name, std::to_string(ended) +
                       " calls are stopped: who gave them is lost (" +
                       x.reason + ")");
}

/// What had not begun never will: the pool that takes its place knows nothing
/// of it. What runs ends by itself, and its worker says so.
void call_host_state::on_pool_down(const caf::down_msg& x) {
  watched.erase(x.source);
  std::vector<attempt_key> gone;
  for (const auto& [key, call] : calls)
    if (call.pool.address() == x.source && !call.started) gone.push_back(key);
  for (const auto& [id, attempt] : gone) {
    work::lost said{id, attempt, "its worker pool failed"};
    on_lost(said);
  }
}

void call_host_state::on_drain() {
  draining = true;
  tell_load();
}

void call_host_state::stop_all() {
  for (const auto& [key, call] : calls)
    self->send(call.pool, work::stop{key.first, key.second});
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
  self->set_down_handler([&st](caf::down_msg& x) { st.on_pool_down(x); });
  for (const auto& [tool, places] : st.setup.places)
    st.loads[tool] = {tool, places, 0, 0};
  st.tell_load();
  return {
      [&st](from_origin& x) { st.on_from_origin(x); },
      [&st](work::started& x) { st.on_started(x); },
      [&st](work::progress& x) { st.on_progress(x); },
      [&st](work::done& x) { st.on_done(x); },
      [&st](work::lost& x) { st.on_lost(x); },
      [&st](const call_overdue& x) { st.on_overdue(x); },
      [&st](piece_read& x) { st.on_piece_read(x); },
      [&st](const origin_lost& x) { st.on_origin_lost(x); },
      [&st](const begin_drain&) { st.on_drain(); },
      [&st](const end_drain&) { st.stop_all(); },
  };
}

}  // namespace riffle
