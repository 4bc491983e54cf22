// SPDX-License-Identifier: MIT
// Hidden: measures, checks nothing. `test_storage "[.bench]"`.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <thread>

#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"

namespace {

using namespace riffle;
using namespace riffle::testing;
using clock_type = std::chrono::steady_clock;

double cpu_us() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) * 1e6 + double(t.tv_nsec) / 1e3;
}

struct load {
  std::size_t runs;
  std::size_t events_per_block;
  std::size_t events;  ///< of all runs
  std::size_t window;  ///< units of a run without acknowledgement
};

void measure(storage::durability mode, load x) {
  scratch_folder folder;
  storage::sqlite_options options;
  options.mode = mode;
  if (const char* pages = std::getenv("RIFFLE_BENCH_CHECKPOINT"))
    options.checkpoint_pages = std::atoi(pages);
  auto opened = storage::sqlite_journal::open(folder.path(), options);
  REQUIRE(opened);
  auto& journal = **opened;
  std::vector<std::string> names;
  std::vector<std::vector<storage::commit_unit>> units(x.runs);
  const auto blocks = x.events / x.runs / x.events_per_block;
  for (std::size_t r = 0; r < x.runs; ++r) {
    names.push_back("run_" + std::to_string(r));
    REQUIRE(journal.open_run(make_run("ses_" + names[r], names[r])));
    for (std::size_t b = 0; b < blocks; ++b)
      units[r].push_back({{names[r]},
                          make_block(names[r], b * x.events_per_block + 1,
                                     (b + 1) * x.events_per_block, 200),
                          {}});
  }
  std::vector<std::atomic<std::size_t>> acknowledged(x.runs);
  const auto wall = clock_type::now();
  const auto cpu = cpu_us();
  std::atomic<bool> ok{true};
  for (std::size_t b = 0; b < blocks; ++b)
    for (std::size_t r = 0; r < x.runs; ++r) {
      for (auto n = acknowledged[r].load(); b >= n + x.window;
           n = acknowledged[r].load())
        acknowledged[r].wait(n);
      journal.append(std::move(units[r][b]), [&, r](auto failure) {
        if (failure) ok = false;
        ++acknowledged[r];
        acknowledged[r].notify_one();
      });
    }
  for (std::size_t r = 0; r < x.runs; ++r)
    for (auto n = acknowledged[r].load(); n < blocks;
         n = acknowledged[r].load())
      acknowledged[r].wait(n);
  const auto cpu_used = cpu_us() - cpu;
  const std::chrono::duration<double, std::micro> took =
      clock_type::now() - wall;
  REQUIRE(ok);
  const auto commits = journal.counts().commits;
  const auto events = double(blocks * x.runs * x.events_per_block);
  const auto seconds = took.count() / 1e6;
  opened->reset();  // copies the log into the main file
  const auto bytes =
      double(std::filesystem::file_size(folder.path() / "riffle.db"));
  std::printf("| %s | %zu | %zu | %zu | %.2f | %.2f | %.0f | %.0f | %.0f |\n",
              mode == storage::durability::disk ? "disk" : "process", x.runs,
              x.events_per_block, x.window, took.count() / events,
              cpu_used / events, double(commits) / seconds, events / seconds,
              bytes / events);
  std::fflush(stdout);
}

/// How long one event waits for its commit beside `blocks` blocks of others,
/// the log of commits being moved at so many bytes.
void measure_pause(const char* what, std::uint64_t log_bytes) {
  constexpr std::size_t blocks = 20'000;  // of ten events: 40 MB
  constexpr std::size_t window = 8;
  scratch_folder folder;
  storage::sqlite_options options;
  options.log_bytes = log_bytes;
  options.log_rows = 1'000'000;
  auto opened = storage::sqlite_journal::open(folder.path(), options);
  REQUIRE(opened);
  auto& journal = **opened;
  for (const auto* run : {"one", "many"})
    REQUIRE(journal.open_run(make_run(std::string{"ses_"} + run, run)));
  std::atomic<bool> over{false};
  std::thread others{[&] {
    std::atomic<std::size_t> acknowledged{0};
    for (std::size_t b = 0; b < blocks; ++b) {
      for (auto n = acknowledged.load(); b >= n + window;
           n = acknowledged.load())
        acknowledged.wait(n);
      journal.append(
          {{"many"}, make_block("many", b * 10 + 1, b * 10 + 10, 200), {}},
          [&](auto) {
            ++acknowledged;
            acknowledged.notify_one();
          });
    }
    for (auto n = acknowledged.load(); n < blocks; n = acknowledged.load())
      acknowledged.wait(n);
    over = true;
  }};
  std::vector<double> waits;
  for (std::uint64_t seq = 1; !over; ++seq) {
    const auto begin = clock_type::now();
    REQUIRE_FALSE(
        store(journal, {{"one"}, make_block("one", seq, seq, 200), {}}));
    const std::chrono::duration<double, std::milli> took =
        clock_type::now() - begin;
    waits.push_back(took.count());
  }
  others.join();
  std::sort(waits.begin(), waits.end());
  const auto at = [&](double part) {
    return waits[static_cast<std::size_t>(part * double(waits.size() - 1))];
  };
  std::printf("| %s | %zu | %.2f | %.2f | %.2f | %.2f |\n", what, waits.size(),
              at(.5), at(.99), at(.999), waits.back());
  std::fflush(stdout);
}

}  // namespace

TEST_CASE("what a commit waits for while the log is moved", "[.bench]") {
  std::puts(
      "| log | commits | p50, ms | p99 | p99.9 | longest |\n"
      "|---|---|---|---|---|---|");
  for (int round = 0; round < 3; ++round) {
    measure_pause("moved at 4 MiB", std::uint64_t{4} << 20);
    measure_pause("never moved", std::uint64_t{1} << 40);
  }
}

TEST_CASE("what an event costs", "[.bench]") {
  std::puts(
      "| durability | runs | events a block | window | wall us/event | "
      "cpu us/event | commits/s | events/s | bytes/event |\n"
      "|---|---|---|---|---|---|---|---|---|");
  using storage::durability;
  for (const std::size_t runs : {1, 100, 1000}) {
    measure(durability::process, {runs, 1, 20'000, 1});
    measure(durability::process, {runs, 1, 100'000, 64});
    measure(durability::process, {runs, 10, 200'000, 8});
    measure(durability::process, {runs, 250, 500'000, 4});
    measure(durability::disk, {runs, 1, 2'000, 1});
    measure(durability::disk, {runs, 1, 20'000, 64});
    measure(durability::disk, {runs, 10, 50'000, 8});
    measure(durability::disk, {runs, 250, 500'000, 4});
  }
}
