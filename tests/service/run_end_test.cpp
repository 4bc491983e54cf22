// SPDX-License-Identifier: MIT
// How a run ended is read from its log, however that is cut into blocks.
#include "runtime/service/run_end.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/event_log_builder.hpp"
#include "tests/support/random_values.hpp"
#include "tests/support/seed.hpp"
#include "tests/support/test_journal.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

const run_id run{"run_1"};

struct counting_journal final : test_journal {
  expected<storage::event_page> read_events(const run_id& id,
                                            std::uint64_t after_seq,
                                            std::size_t max_bytes) override {
    ++reads;
    return test_journal::read_events(id, after_seq, max_bytes);
  }
  int reads = 0;
};

std::shared_ptr<counting_journal> opened() {
  auto out = std::make_shared<counting_journal>();
  storage::run_record x;
  x.id = run;
  x.session = session_id{"ses_1"};
  REQUIRE(out->open_run(x));
  return out;
}

/// Stores events in blocks of random sizes; the last two are one commit, as
/// every run's are.
void store(counting_journal& to, const testing::event_log& all,
           random_values& random, std::size_t most) {
  for (std::size_t i = 0; i < all.size();) {
    const auto rest = all.size() - i;
    auto n = std::min(rest, 1 + random.below(most));
    if (n + 1 == rest) ++n;
    storage::event_block block{all[i].seq, all[i].seq + n - 1,
                               std::make_shared<const std::string>([&] {
                                 std::string lines;
                                 for (auto k = i; k < i + n; ++k)
                                   lines += to_line(all[k]);
                                 return lines;
                               }())};
    to.append({run, std::move(block), {}}, [](const auto&) {});
    i += n;
  }
  to.release_all();
}

testing::event_log with_texts(std::size_t n) {
  event_log_builder log;
  log.start().step();
  for (std::size_t i = 0; i < n; ++i) log.text("x");
  log.answer("Done.");
  return log.finish();
}

}  // namespace

TEST_CASE("a run's answer is found in a log of any length and any blocks") {
  random_values random{fresh_seed()};
  for (const std::size_t most : {1, 2, 7, 100})
    for (std::size_t i = 0; i < 60; ++i) {
      const auto n = i < 40 ? i : 1010 + random.below(40);
      const auto journal = opened();
      store(*journal, with_texts(n), random, most);
      const auto end = service::read_end(*journal, run);
      INFO(n << " texts in blocks of at most " << most);
      REQUIRE(end);
      REQUIRE(*end);
      CHECK((*end)->answer == "Done.");
      CHECK((*end)->finished.duration_ms == 12);
      CHECK(journal->reads < 40);
    }
}

TEST_CASE("a run without an end has none, and an unknown one is an error") {
  random_values random{fresh_seed()};
  const auto journal = opened();
  const auto none = service::read_end(*journal, run);
  REQUIRE(none);
  CHECK_FALSE(*none);
  event_log_builder log;
  store(*journal, log.start().step().text("x").log(), random, 2);
  const auto open = service::read_end(*journal, run);
  REQUIRE(open);
  CHECK_FALSE(*open);
  const auto unknown = service::read_end(*journal, run_id{"run_2"});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == errc::not_found);
}
