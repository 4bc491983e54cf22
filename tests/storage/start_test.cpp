// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"

namespace {

using namespace riffle;
using namespace riffle::testing;

template <class F>
double milliseconds(F f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::milli>{
      std::chrono::steady_clock::now() - begin}
      .count();
}

/// Sessions of one run with a message, a call and 100 events each.
void fill(storage::journal& journal, std::size_t sessions) {
  for (std::size_t i = 0; i < sessions; ++i) {
    const auto name = "run_" + std::to_string(i);
    auto run = journal.open_run(make_run("ses_" + name, name))->run;
    run.state = storage::run_state::completed;
    journal.append(
        {run.id,
         make_block(name, 1, 100, 200),
         {make_message(run, "done"), make_call(name, "call_" + name), run}},
        [](auto) {});
  }
}

}  // namespace

TEST_CASE(
    "a store of many sessions opens at once, a long run is recovered "
    "at once",
    "[torture]") {
  const std::size_t scale =
      std::getenv("RIFFLE_TEST_FULL") != nullptr ? 10'000 : 1'000;
  scratch_folder folder;
  {
    const auto journal = open_store(folder.path());
    fill(*journal, scale);
    REQUIRE(journal->open_run(make_run("ses_long", "run_long")));
    for (std::uint64_t first = 1; first < scale * 10; first += 100)
      journal->append(
          {{"run_long"}, make_block("run_long", first, first + 99, 200), {}},
          [](auto) {});
  }
  std::unique_ptr<storage::sqlite_journal> journal;
  std::size_t listed = 0;
  const auto opening = milliseconds([&] {
    journal = open_store(folder.path());
    listed = journal->list_sessions(20'000)->size();
  });
  std::uint64_t last_seq = 0;
  const auto recovery = milliseconds(
      [&] { last_seq = journal->adopt_run({"run_long"})->last_seq; });
  std::printf(
      "%zu sessions: opened and listed in %.0f ms, a run of %zu "
      "events recovered in %.1f ms\n",
      scale, opening, scale * 10, recovery);
  CHECK(listed == scale + 1);
  CHECK(last_seq == scale * 10);
  CHECK(opening < 2000);
  CHECK(recovery < 200);
}
