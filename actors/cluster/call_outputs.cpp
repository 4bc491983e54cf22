// SPDX-License-Identifier: MIT
// Whole outputs of a call host's calls, in pieces before their results.
#include <algorithm>
#include <utility>

#include "actors/cluster/call_host.hpp"

namespace riffle {

namespace {

/// Of whole outputs: how large a part is, and how many are on their way: of one
/// call, and of all calls of a link. So what another call says waits for no
/// more than the latter.
constexpr std::size_t piece_bytes = 256u << 10;
constexpr std::size_t most_pieces = 4;
constexpr std::size_t most_pieces_of_link = 8;

}  // namespace

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

}  // namespace riffle
