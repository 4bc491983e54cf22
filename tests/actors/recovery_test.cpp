// SPDX-License-Identifier: MIT
// The process ends at a random moment; the next one goes on from what was
// acknowledged.
#include <random>

#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

std::vector<std::string> words() {
  return {
      model_says("First. ") + model_calls(0, "look") + model_calls(1, "act") +
          model_calls(2, "redo") + model_calls(3, "look", {{"n", 2}}) +
          model_stops("tool_calls"),
      model_says("Then. ") + model_calls(0, "act", {{"n", 5}}) +
          model_calls(1, "seek_approval", {{"summary", "may I?"}}) +
          model_calls(2, "act", {{"n", 6}}) + model_stops("tool_calls"),
      model_says("The end.") + model_stops("stop"),
  };
}

/// What a person may decide about all that waits, at any moment.
void decide_something(actor_fixture& x, std::mt19937& random) {
  const auto open = x.undecided();
  if (open.empty()) return;
  const auto& what = open[random() % open.size()].what;
  const auto how = random() % 4 == 0 ? events::proposal_outcome::denied
                                     : events::proposal_outcome::approved;
  const bool edits = how == events::proposal_outcome::approved &&
                     random() % 3 == 0 &&
                     what.source == events::proposal_source::tool_call;
  x.decide(what.id, how, edits ? R"({"n":100})" : "", always_scope::none,
           random() % 2 == 0);
}

/// Moves one thing at random; false if nothing could move.
bool move_one(actor_fixture& x, std::mt19937& random) {
  for (int tries = 0; tries < 8; ++tries) {
    switch (random() % 3) {
      case 0:
        if (x.scheduler().try_run_once()) return true;
        break;
      case 1:
        if (x.blocking->run_one()) return true;
        break;
      default:
        if (x.held->release_one()) return true;
    }
  }
  return x.scheduler().try_run_once() || x.blocking->run_one() ||
         x.held->release_one();
}

}  // namespace

TEST_CASE("a process that ends at any moment loses and repeats nothing") {
  const bool asks = GENERATE(false, true);
  const auto first = fresh_seed();
  const unsigned rounds =
      std::getenv("RIFFLE_TEST_FULL") != nullptr ? 20000 : 1000;
  for (unsigned i = 0; i < rounds; ++i) {
    const auto seed = first + i;
    INFO("seed " << seed);
    std::mt19937 random{seed};
    auto journal =
        std::make_shared<test_journal>(test_journal::options{.seed = seed});
    std::map<call_id, std::size_t> acted;
    std::string published;
    bool finished = false;
    for (int life = 0; life < 6 && !finished; ++life) {
      actor_fixture x{journal};
      x.release_acks = x.run_blocking = false;
      if (asks) {
        x.approval = approve::ask;
        x.settings.defaults.approval = "ask";
        x.previews = random() % 2 == 0;
        if (random() % 4 == 0) x.expire_after = std::chrono::seconds{20};
      }
      x.begin();
      x.provider->answers = words();
      auto spec = x.make_spec();
      // Unique ids in each life, as from a real source.
      x.ids = std::make_shared<id_source>(
          seed * 31 + static_cast<unsigned>(life),
          [life] { return wall_time{1'000'000 * (life + 1)}; });
      spec->ids = x.ids;
      const auto known = journal->load_run(x.run);
      if (known && known->state != storage::run_state::active) {
        finished = true;
        break;
      }
      if (known) {
        // The provider answers by what it is told, as a real one.
        const auto session = journal->load_session(session_id{"ses_1"});
        std::size_t told = 0;
        for (const auto& m : session->messages)
          if (m.role == storage::message_role::assistant) ++told;
        auto rest = words();
        rest.erase(rest.begin(),
                   rest.begin() + static_cast<std::ptrdiff_t>(
                                      std::min(told, rest.size() - 1)));
        x.provider->answers = rest;
        x.resume(spec);
      } else {
        x.start(spec);
      }
      const auto moves = life == 5 ? 100'000u : 1 + random() % 400;
      for (unsigned m = 0; m < moves && !x.reader->is_closed; ++m)
        if (asks && random() % 8 == 0)
          decide_something(x, random);
        else if (!move_one(x, random))
          x.advance(std::chrono::milliseconds{50});
      for (const auto& id : x.act->acted) ++acted[id];
      check_requests(x.provider->requests);
      // What a reader got is a contiguous piece of the log.
      journal->release_all();
      if (x.reader->is_closed) {
        published = x.reader->lines;
        finished = true;
        break;
      }
      auto next = journal->crash(random());
      const auto page = next->read_events(x.run, 0, 1u << 20);
      std::string stored;
      if (page)
        for (const auto& block : page->blocks) stored += *block.lines;
      CHECK(stored.starts_with(x.reader->lines));
      journal = next;
    }
    REQUIRE(finished);
    const auto page = journal->read_events(run_id{"run_1"}, 0, 1u << 20);
    REQUIRE(page);
    std::string stored;
    for (const auto& block : page->blocks) stored += *block.lines;
    check_log(stored);
    std::set<std::string> made;
    for (const auto& p : events_of(stored, "proposal"))
      if (p.at("data").at("status") == "open")
        CHECK(made.insert(p.at("data").at("proposal_id")).second);
    // A run that broke more often than it may be recovered made none, and so
    // did a call for one that had begun when its process ended.
    bool cut = false;
    for (const auto& result : events_of(stored, "tool_result"))
      cut = cut || (result.at("data").at("tool") == "seek_approval" &&
                    result.at("data").at("outcome") == "interrupted");
    const auto end = events_of(stored, "run_finished").at(0).at("data");
    CHECK(made.size() <= 1);
    if (end.at("status") == "completed" && !cut) CHECK(made.size() == 1);
    for (const auto& [id, n] : acted) CHECK(n == 1);
  }
}
