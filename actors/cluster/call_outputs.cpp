// SPDX-License-Identifier: MIT
// Whole outputs of a call host's calls, in pieces before their results.
#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "actors/cluster/call_host.hpp"
#include "runtime/base/log.hpp"

namespace riffle {

namespace {

/// Of whole outputs: how large a part is. How many are on their way over a link
/// its window says: what another call says waits for no more than those.
constexpr std::size_t piece_bytes = 128u << 10;

}  // namespace

void say_it_is_cut(call_result& x) {
  constexpr auto key = "whole_kept";
  if (x.metadata.find(key) == std::string::npos) return;
  auto about = nlohmann::json::parse(x.metadata, nullptr, false);
  if (!about.is_object() || !about.contains(key)) return;
  about[key] = false;
  x.metadata =
      about.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Who asked for the output reads it in the result, who runs the node here.
void call_host_state::log_if_cut(const work::done& x) {
  const auto says = [&](const char* what) {
    return x.result.metadata.find(what) != std::string::npos;
  };
  if (says(R"("whole_kept":true)") || says(R"("whole_lost":)"))
    log_warn(name,
             "the output of call " + x.id.value +
                 " is too long for its result, and its file is not in this "
                 "node's data folder (was that removed while it ran?): a part "
                 "is sent");
}

/// One after the other, off this thread; a few on their way at a time. The
/// result follows the last one.
void call_host_state::read_piece(const std::string& token, ending& x) {
  if (x.reading || x.closed) return;
  auto& of_link = pieces[x.link];
  if (of_link >= windows[x.link].size()) return;  // its turn comes with an ack
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

void call_host_state::on(piece_read& x) {
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
    end.in_flight.emplace_back(now(), size == piece_bytes);
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
  for (auto n = endings.size(); n > 0 && of_link < windows[link].size(); --n) {
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
  if (end.in_flight.empty()) return;
  if (const auto& [since, usual] = end.in_flight.front(); usual)
    windows[end.link].on_answer(now() - since, now());
  end.in_flight.pop_front();
  end.closed = end.closed || x.stop;
  give_room(end.link, 1);
  end_if_sent(from.tag.token);
}

/// What is on its way is not answered any more. What is being read comes, and
/// is for nobody: until then the file is its reader's.
void call_host_state::give_up(ending& x) {
  x.closed = true;
  const auto given_up = std::exchange(x.in_flight, {}).size();
  pieces[x.link] -= std::min(pieces[x.link], given_up);
  if (!x.reading)
    self->send(caf::actor_cast<caf::actor>(self),
               piece_read{calls.at(x.key).tag.token, {}});
}

void call_host_state::end_if_sent(const std::string& token) {
  const auto i = endings.find(token);
  if (i == endings.end()) return;
  const auto& end = i->second;
  if (!end.closed || end.reading || !end.in_flight.empty()) return;
  auto done = std::move(i->second);
  endings.erase(i);
  if (!done.output->whole()) say_it_is_cut(done.done.result);
  finish(done.key, std::move(done.done));
}

}  // namespace riffle
