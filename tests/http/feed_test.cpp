// SPDX-License-Identifier: MIT
// The order of all runs as the server reads it.
#include "runtime/http/feed_asked.hpp"
#include "runtime/http/feed_tail.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_journal.hpp"

using namespace riffle;

namespace {

/// Fails for one run, as a disk does that cannot be read now.
struct failing_journal : testing::test_journal {
  expected<storage::run_record> load_run(const run_id& id) override {
    if (id == run && failure) return unexpected{*failure};
    return test_journal::load_run(id);
  }

  run_id run{"run_1"};
  std::optional<error> failure;
};

void put(storage::journal& to, const std::string& run) {
  storage::run_record record;
  record.id = {run};
  record.session = {"ses_" + run};
  REQUIRE(to.open_run(record, {}));
  const auto line = R"({"seq":1,"run_id":")" + run + "\"}\n";
  to.append(
      {{run},
       storage::event_block{1, 1, std::make_shared<const std::string>(line)},
       {}},
      [](auto) {});
}

}  // namespace

TEST_CASE("a run that cannot be read now is not left out of the order") {
  failing_journal journal;
  put(journal, "run_1");
  put(journal, "run_2");
  journal.release_all();
  http::known_runs known;
  SECTION("one moment that is over") {
    journal.failure = error{errc::storage_unavailable, "load_run", "no file"};
    const auto now = http::read_piece(journal, {}, {}, known);
    CHECK(now.failed);
    CHECK(now.items.empty());
    CHECK(now.next == storage::feed_place{});
    journal.failure.reset();
    const auto later = http::read_piece(journal, {}, {}, known);
    CHECK_FALSE(later.failed);
    CHECK(later.items.size() == 2);
  }
  SECTION("it is damaged: that costs no other") {
    journal.failure = error{errc::storage_corrupt, "load_run", "damaged"};
    const auto now = http::read_piece(journal, {}, {}, known);
    CHECK_FALSE(now.failed);
    REQUIRE(now.items.size() == 1);
    CHECK(now.items.front().run->session == session_id{"ses_run_2"});
  }
}

TEST_CASE("whether a place is known is not told while nobody can read it") {
  failing_journal journal;
  put(journal, "run_1");
  journal.release_all();
  const auto first = journal.read_feed({}, 1)->entries.at(0).first;
  CHECK(http::judge_feed_place(journal, first, {}) ==
        http::feed_place_is::known);
  journal.failure = error{errc::storage_unavailable, "load_run", "no file"};
  const auto now = http::judge_feed_place(journal, first, {});
  REQUIRE_FALSE(now);
  CHECK(now.error().code == errc::storage_unavailable);
}
