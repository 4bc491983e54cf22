// SPDX-License-Identifier: MIT
#include "actors/core/progress_merge.hpp"

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"

using riffle::call_id;
using riffle::core::progress_merge;
using riffle::core::settlement;
using riffle::work::progress;

namespace {

const call_id a{"call_a"};
const call_id b{"call_b"};

progress report(const call_id& call, std::uint32_t attempt,
                std::uint64_t number) {
  return {
      call,
      attempt,
      number,
      "t",
      {std::to_string(attempt) + "/" + std::to_string(number), {}, {}, {}, 0}};
}

std::vector<std::string> messages(const progress_merge::out& x) {
  std::vector<std::string> result;
  for (const auto& p : x.progress)
    result.push_back(p.id.value + " " + p.report.message);
  return result;
}

using texts = std::vector<std::string>;
using tokens = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("progress of a call that began passes at once") {
  progress_merge x;
  x.on_begun(a, 1);
  CHECK(messages(x.on_progress(report(a, 1, 1))) == texts{"call_a 1/1"});
  CHECK(x.open() == 1);
}

TEST_CASE("a settlement waits for the worker's last progress") {
  progress_merge x;
  x.on_begun(a, 1);
  x.on_progress(report(a, 1, 1));
  CHECK(x.on_settled({a, 1, 3, 7}).settled.empty());
  CHECK(x.on_progress(report(a, 1, 2)).settled.empty());
  const auto last = x.on_progress(report(a, 1, 3));
  CHECK(messages(last) == texts{"call_a 1/3"});
  CHECK(last.settled == tokens{7});
  CHECK(x.open() == 0);
  CHECK(x.dropped() == 0);
}

TEST_CASE("a dead worker's settlement does not wait") {
  progress_merge x;
  x.on_begun(a, 1);
  CHECK(x.on_settled({a, 1, std::nullopt, 7}).settled == tokens{7});
}

TEST_CASE("a call that never began settles at once") {
  progress_merge x;
  CHECK(x.on_settled({a, 0, std::nullopt, 7}).settled == tokens{7});
  CHECK(x.on_settled({b, 0, 4, 8}).settled == tokens{8});
}

TEST_CASE("giving up emits the held settlement, and nothing else") {
  progress_merge x;
  x.on_begun(a, 1);
  CHECK(x.on_give_up(a) == progress_merge::out{});
  x.on_settled({a, 1, 1, 7});
  CHECK(x.on_give_up(b) == progress_merge::out{});
  CHECK(x.on_give_up(a).settled == tokens{7});
  CHECK(x.on_progress(report(a, 1, 1)) == progress_merge::out{});
  CHECK(x.dropped() == 1);
  CHECK(x.on_give_up(a) == progress_merge::out{});
}

TEST_CASE("one call's held settlement does not hold another call") {
  progress_merge x;
  x.on_begun(a, 1);
  x.on_begun(b, 1);
  x.on_settled({a, 1, 1, 7});
  CHECK(messages(x.on_progress(report(b, 1, 1))) == texts{"call_b 1/1"});
  CHECK(x.on_settled({b, 1, 1, 8}).settled == tokens{8});
}

TEST_CASE("progress of an older attempt is dropped and counted") {
  progress_merge x;
  x.on_begun(a, 1);
  x.on_begun(a, 2);
  CHECK(x.on_progress(report(a, 1, 1)).progress.empty());
  CHECK(x.dropped() == 1);
  CHECK(messages(x.on_progress(report(a, 2, 1))) == texts{"call_a 2/1"});
}

TEST_CASE("progress after the settlement is dropped and counted") {
  progress_merge x;
  x.on_begun(a, 1);
  x.on_settled({a, 1, 0, 7});
  CHECK(x.on_progress(report(a, 1, 1)) == progress_merge::out{});
  CHECK(x.on_progress(report(a, 2, 1)) == progress_merge::out{});
  CHECK(x.dropped() == 2);
}

TEST_CASE("duplicate progress is dropped, a hole is not waited for") {
  progress_merge x;
  x.on_begun(a, 1);
  CHECK(x.on_progress(report(a, 1, 1)).progress.size() == 1);
  CHECK(x.on_progress(report(a, 1, 1)).progress.empty());
  CHECK(x.on_progress(report(a, 1, 3)).progress.size() == 1);
  CHECK(x.on_progress(report(a, 1, 2)).progress.empty());
  CHECK(x.dropped() == 2);
  CHECK(x.on_settled({a, 1, 3, 7}).settled == tokens{7});
}

TEST_CASE("progress that overtook its begin waits for it") {
  progress_merge x;
  CHECK(x.on_progress(report(a, 1, 1)) == progress_merge::out{});
  CHECK(x.on_progress(report(a, 1, 2)) == progress_merge::out{});
  x.on_begun(a, 1);
  SECTION("and leaves when it is asked for") {
    CHECK(messages(x.take_ready()) == texts{"call_a 1/1", "call_a 1/2"});
    CHECK(x.take_ready() == progress_merge::out{});
  }
  SECTION("or with the next message, before it") {
    CHECK(messages(x.on_progress(report(a, 1, 3))) ==
          texts{"call_a 1/1", "call_a 1/2", "call_a 1/3"});
  }
  SECTION("or before the settlement") {
    const auto out = x.on_settled({a, 1, 2, 7});
    CHECK(messages(out) == texts{"call_a 1/1", "call_a 1/2"});
    CHECK(out.settled == tokens{7});
  }
}

TEST_CASE("progress of the next attempt waits for its begin") {
  progress_merge x;
  x.on_begun(a, 1);
  CHECK(x.on_progress(report(a, 2, 1)).progress.empty());
  CHECK(x.on_progress(report(a, 1, 1)).progress.size() == 1);
  x.on_begun(a, 2);
  CHECK(messages(x.take_ready()) == texts{"call_a 2/1"});
  CHECK(x.dropped() == 0);
}

TEST_CASE("a second settlement and a begin after it are ignored") {
  progress_merge x;
  x.on_begun(a, 1);
  x.on_settled({a, 1, 1, 7});
  CHECK(x.on_settled({a, 1, 0, 8}) == progress_merge::out{});
  CHECK(x.on_progress(report(a, 1, 1)).settled == tokens{7});
  CHECK(x.on_settled({a, 1, 0, 9}) == progress_merge::out{});
  x.on_begun(a, 2);
  CHECK(x.open() == 0);
  CHECK(x.on_progress(report(a, 2, 1)) == progress_merge::out{});
}

TEST_CASE("early reports are bounded: the newest wins and is counted") {
  progress_merge x;
  const auto n = progress_merge::early_limit + 10;
  for (std::uint64_t i = 1; i <= n; ++i) x.on_progress(report(a, 1, i));
  x.on_begun(a, 1);
  const auto out = x.on_settled({a, 1, n, 7});
  REQUIRE(out.progress.size() == progress_merge::early_limit);
  CHECK(out.progress.back().report.message == "1/" + std::to_string(n));
  CHECK(out.progress.back().report.coalesced == 10);
  CHECK(out.settled == tokens{7});
}

TEST_CASE("reports of foreign calls are bounded and counted") {
  progress_merge x;
  for (std::size_t i = 0; i < progress_merge::early_calls + 5; ++i)
    x.on_progress(report(call_id{"c" + std::to_string(i)}, 1, 1));
  CHECK(x.dropped() == 5);
  x.on_begun(call_id{"c4"}, 1);
  CHECK(x.take_ready().progress.empty());
  x.on_begun(call_id{"c5"}, 1);
  CHECK(x.take_ready().progress.size() == 1);
}

TEST_CASE("what is remembered of settled calls is bounded") {
  progress_merge x;
  for (std::size_t i = 0; i <= progress_merge::settled_limit; ++i)
    x.on_settled({call_id{"c" + std::to_string(i)}, 0, {}, i});
  // Forgotten or not: nothing leaves after a settlement.
  CHECK(x.on_progress(report(call_id{"c0"}, 1, 1)) == progress_merge::out{});
  CHECK(x.on_progress(report(call_id{"c1"}, 1, 1)) == progress_merge::out{});
  CHECK(x.dropped() == 1);
}

// --- any schedule -----------------------------------------------------------

namespace {

struct message {
  enum class kind : std::uint8_t { begun, progress, settled } what;
  call_id call;
  std::uint32_t attempt = 0;
  std::uint64_t number = 0;  ///< of the report, or the last one (settled)
  bool died = false;
};

using stream = std::vector<message>;

/// The dispatcher's messages first, then one stream for each attempt's worker.
struct world {
  std::vector<stream> sources{1};
  std::map<call_id, std::uint64_t> token_of;
};

world make_world(std::mt19937& random) {
  world w;
  const auto below = [&](unsigned n) {
    return static_cast<unsigned>(random() % n);
  };
  std::vector<stream> per_call;
  for (unsigned c = 0, n = 1 + below(5); c < n; ++c) {
    const call_id id{"call_" + std::to_string(c)};
    w.token_of[id] = c;
    stream own;
    const std::uint32_t attempts = below(4);
    std::uint64_t reports = 0;
    for (unsigned k = 1; k <= attempts; ++k) {
      own.push_back({message::kind::begun, id, k, 0, false});
      reports = below(6);
      stream worker;
      for (std::uint64_t i = 1; i <= reports; ++i)
        worker.push_back({message::kind::progress, id, k, i, false});
      w.sources.push_back(std::move(worker));
    }
    const auto died = below(4) == 0;
    own.push_back({message::kind::settled, id, attempts, reports, died});
    per_call.push_back(std::move(own));
  }
  // The dispatcher's one mailbox order: any merge of its calls.
  while (!per_call.empty()) {
    const auto i = below(static_cast<unsigned>(per_call.size()));
    w.sources[0].push_back(per_call[i].front());
    per_call[i].erase(per_call[i].begin());
    if (per_call[i].empty())
      per_call.erase(per_call.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return w;
}

/// What a reader of the events sees of each call.
struct observer {
  std::map<call_id, std::uint32_t> begun;
  std::map<call_id, std::pair<std::uint32_t, std::uint64_t>> last;
  std::map<call_id, int> settled;
  std::size_t seen = 0;

  void take(const progress_merge::out& out,
            const std::map<call_id, std::uint64_t>& token_of) {
    for (const auto& p : out.progress) {
      const auto slash = p.report.message.find('/');
      const auto place =
          std::pair{static_cast<std::uint32_t>(std::stoul(p.report.message)),
                    static_cast<std::uint64_t>(
                        std::stoull(p.report.message.substr(slash + 1)))};
      REQUIRE(settled[p.id] == 0);
      REQUIRE(place.first == begun[p.id]);
      REQUIRE(place > last[p.id]);
      last[p.id] = place;
      ++seen;
    }
    for (const auto token : out.settled)
      for (const auto& [id, of] : token_of)
        if (of == token) REQUIRE(++settled[id] == 1);
  }
};

void deliver(progress_merge& x, observer& reader, const message& m,
             const world& w) {
  switch (m.what) {
    case message::kind::begun:
      // The reader has all that came before when the begin is emitted.
      reader.take(x.take_ready(), w.token_of);
      x.on_begun(m.call, m.attempt);
      reader.begun[m.call] = m.attempt;
      break;
    case message::kind::progress:
      reader.take(x.on_progress(report(m.call, m.attempt, m.number)),
                  w.token_of);
      break;
    case message::kind::settled:
      reader.take(x.on_settled({m.call, m.attempt,
                                m.died ? std::nullopt : std::optional{m.number},
                                w.token_of.at(m.call)}),
                  w.token_of);
      break;
  }
}

}  // namespace

TEST_CASE("every schedule keeps each call's order and settles it once, last") {
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random{seed};
    const auto w = make_world(random);
    progress_merge x;
    observer reader;
    auto rest = w.sources;
    std::size_t reports = 0;
    while (true) {
      std::erase_if(rest, [](const stream& s) { return s.empty(); });
      if (rest.empty()) break;
      auto& s = rest[random() % rest.size()];
      reports += s.front().what == message::kind::progress ? 1 : 0;
      deliver(x, reader, s.front(), w);
      s.erase(s.begin());
    }
    REQUIRE(x.open() == 0);
    REQUIRE(reader.seen + x.dropped() == reports);
    for (const auto& m : w.sources[0]) {
      if (m.what != message::kind::settled) continue;
      REQUIRE(reader.settled[m.call] == 1);
      // Nothing of the last attempt is lost, whoever was faster.
      if (!m.died && m.attempt > 0 && m.number > 0)
        REQUIRE(reader.last[m.call] == std::pair{m.attempt, m.number});
    }
  }
}
