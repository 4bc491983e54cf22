// SPDX-License-Identifier: MIT
// Damaged files: never a crash, never a wrong record.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/storage/crash_workload.hpp"
#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"

namespace {

using namespace riffle;
using namespace riffle::testing;
namespace fs = std::filesystem;

std::string read_file(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

void write_file(const fs::path& file, const std::string& bytes) {
  std::ofstream{file, std::ios::binary | std::ios::trunc} << bytes;
}

std::size_t samples(std::size_t quick, std::size_t all) {
  return std::getenv("RIFFLE_TEST_FULL") != nullptr ? all : quick;
}

std::string name_of(std::size_t r) {
  return "run_" + std::string(1, static_cast<char>('a' + r));
}

/// A stored workload; with `log` its write-ahead log is left as by a kill.
struct stored_files {
  std::string main;
  std::string log;
  std::string index;
};

stored_files make_files(bool with_log, std::size_t runs = 2) {
  scratch_folder folder;
  stored_files files;
  auto journal = open_store(folder.path());
  for (std::size_t r = 0; r < runs; ++r) {
    const auto run = name_of(r);
    REQUIRE(journal->open_run(make_run("ses_" + run, run)));
    for (std::size_t k = 1; k <= workload_units; ++k)
      REQUIRE_FALSE(store(*journal, workload_unit(run, k)));
  }
  if (!with_log) journal = nullptr;
  files.main = read_file(folder.path() / "riffle.db");
  if (with_log) files.log = read_file(folder.path() / "riffle.db-wal");
  if (with_log) files.index = read_file(folder.path() / "riffle.db-shm");
  return files;
}

template <class T>
bool right_or_corrupt(const expected<T>& found, const expected<T>& wanted,
                      bool (*same)(const T&, const T&)) {
  if (!found) return found.error().code == errc::storage_corrupt;
  return same(*found, *wanted);
}

bool same_session(const storage::session_snapshot& a,
                  const storage::session_snapshot& b) {
  return a.runs == b.runs && a.messages == b.messages && a.calls == b.calls;
}

bool same_text(const std::string& a, const std::string& b) { return a == b; }

bool same_record(const storage::run_record& a, const storage::run_record& b) {
  return a == b;
}

/// All that is read is right or called corrupt. Returns how many runs are
/// whole.
std::size_t check_runs(storage::journal& found, storage::journal& wanted,
                       std::size_t runs) {
  std::size_t whole = 0;
  for (std::size_t r = 0; r < runs; ++r) {
    const auto run = name_of(r);
    CAPTURE(run);
    const session_id session{"ses_" + run};
    const auto snapshot = found.load_session(session);
    const auto log = read_all(found, run, 0, 20000);
    const auto right_snapshot = wanted.load_session(session);
    CHECK(right_or_corrupt(snapshot, right_snapshot, same_session));
    CHECK(right_or_corrupt(found.load_run({run}), wanted.load_run({run}),
                           same_record));
    INFO((log ? std::to_string(log->size()) + " bytes" : render(log.error())));
    CHECK(right_or_corrupt(log, read_all(wanted, run, 0, 20000), same_text));
    bool outputs = true;
    for (const auto& call : right_snapshot->calls) {
      const auto output = found.load_output(call.call.id);
      const auto right = wanted.load_output(call.call.id);
      if (right) {
        CHECK(right_or_corrupt(output, right, same_text));
      }
      outputs = outputs && output.has_value() == right.has_value();
    }
    if (snapshot && log && outputs) ++whole;
  }
  return whole;
}

/// Units of the runs; only the first `odd_units` of each second one.
void fill(storage::journal& to, std::size_t runs, std::size_t odd_units) {
  for (std::size_t r = 0; r < runs; ++r) {
    const auto run = name_of(r);
    REQUIRE(to.open_run(make_run("ses_" + run, run)));
    const auto units = r % 2 == 0 ? workload_units : odd_units;
    for (std::size_t k = 1; k <= units; ++k)
      REQUIRE_FALSE(store(to, workload_unit(run, k)));
  }
}

std::unique_ptr<storage::journal> wanted_runs(
    std::size_t runs, std::size_t odd_units = workload_units) {
  auto wanted = storage::make_memory_journal();
  fill(*wanted, runs, odd_units);
  return wanted;
}

/// As a process leaves it that is killed after the write-ahead log was copied.
stored_files make_unmoved_file(std::size_t runs, std::size_t odd_units) {
  scratch_folder folder;
  const auto journal = open_store(folder.path());
  fill(*journal, runs, odd_units);
  change_file(folder.path(), "PRAGMA wal_checkpoint(TRUNCATE)");
  return {read_file(folder.path() / "riffle.db"), {}, {}};
}

/// Opens files with a damaged log; whole units must remain. Returns how many
/// and whether a loss was reported.
struct after_log_damage {
  std::size_t units = 0;
  bool reported = false;
};

after_log_damage open_with_log(const stored_files& files) {
  scratch_folder folder;
  write_file(folder.path() / "riffle.db", files.main);
  write_file(folder.path() / "riffle.db-wal", files.log);
  if (!files.index.empty())
    write_file(folder.path() / "riffle.db-shm", files.index);
  std::vector<std::string> notes;
  const auto journal = open_store(folder.path(), &notes);
  after_log_damage result{0, !notes.empty()};
  for (std::size_t r = 0; r < 2; ++r) {
    const auto run = name_of(r);
    const auto record = journal->load_run({run});
    if (!record) {
      CHECK(record.error().code == errc::not_found);
      continue;
    }
    const auto log = read_all(*journal, run, 0, 20000);
    REQUIRE(log);
    const auto lines =
        static_cast<std::uint64_t>(std::count(log->begin(), log->end(), '\n'));
    const auto units = units_up_to(run, lines);
    REQUIRE(units <= workload_units);
    CHECK(compare_with_prefix(*journal, run, units) == "");
    if (r == 1 && units > 0) CHECK(result.units == workload_units);
    result.units += units;
  }
  return result;
}

}  // namespace

TEST_CASE("a write-ahead log that was cut leaves whole commits", "[torture]") {
  const auto files = make_files(true);
  CHECK(open_with_log(files).units == 2 * workload_units);
  CHECK_FALSE(open_with_log(files).reported);
  std::mt19937 random{11};
  std::size_t last = 0;
  std::vector<std::size_t> cuts{0, 1, 31, 32, 33, files.log.size() - 1};
  const auto step = files.log.size() / samples(25, files.log.size() / 512);
  for (std::size_t at = step; at < files.log.size(); at += step)
    cuts.push_back(at - random() % 9);
  std::sort(cuts.begin(), cuts.end());
  for (const auto size : cuts) {
    CAPTURE(size, files.log.size());
    auto cut = files;
    cut.log.resize(size);
    const auto left = open_with_log(cut);
    CHECK(left.units >= last);  // more of the log never gives less
    last = left.units;
    CHECK(left.reported);
    // Without its index a cut log looks whole.
    cut.index.clear();
    CHECK(open_with_log(cut).units == left.units);
  }
}

TEST_CASE(
    "a flipped bit in the write-ahead log leaves whole commits, and the "
    "loss is reported",
    "[torture]") {
  const auto files = make_files(true);
  std::mt19937 random{12};
  const auto count = samples(40, 2000);
  for (std::size_t i = 0; i < count; ++i) {
    auto bad = files;
    const auto at = i < 32 ? i : random() % files.log.size();
    bad.log[at] = static_cast<char>(bad.log[at] ^ (1 << (random() % 8)));
    CAPTURE(at, files.log.size());
    const auto left = open_with_log(bad);
    if (left.units < 2 * workload_units) CHECK(left.reported);
  }
}

TEST_CASE("a flipped bit in the main file is corrupt, never wrong") {
  constexpr std::size_t runs = 4;
  // At rest, and with all lines in the log of commits, two of the runs active.
  const bool at_rest = GENERATE(true, false);
  const auto units = at_rest ? workload_units : workload_units - 3;
  const auto files =
      at_rest ? make_files(false, runs) : make_unmoved_file(runs, units);
  const auto wanted = wanted_runs(runs, units);
  std::mt19937 random{13};
  const auto count = samples(150, 20'000);
  std::size_t damaged = 0;
  std::size_t others_whole = 0;
  for (std::size_t i = 0; i < count; ++i) {
    auto bytes = files.main;
    // All headers of pages now and then: they steer the reader.
    auto at = random() % bytes.size();
    if (i % 3 == 0) at = at / 4096 * 4096 + random() % 40;
    const auto bit = random() % 8;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
    CAPTURE(at, bit);
    scratch_folder folder;
    write_file(folder.path() / "riffle.db", bytes);
    storage::sqlite_options options;
    options.on_note = [](const std::string&) {};
    const auto opened = storage::sqlite_journal::open(folder.path(), options);
    if (!opened) {
      CHECK(opened.error().message.find("riffle.db") != std::string::npos);
      continue;
    }
    const auto whole = check_runs(**opened, *wanted, runs);
    if (whole < runs) ++damaged;
    if (whole == runs - 1) ++others_whole;
  }
  CHECK(damaged > count / 10);
  CHECK(others_whole > damaged / 2);
}

TEST_CASE("an index that has lost a run does not make it vanish") {
  constexpr std::size_t runs = 2;
  const auto files = make_files(false, runs);
  const auto wanted = wanted_runs(runs);
  std::size_t places = 0;
  std::size_t noticed = 0;  // a second copy may be hit, and nothing is wrong
  for (const std::string text : {"run_b", "ses_run_b", "call_run_b2"})
    for (auto at = files.main.find(text); at != std::string::npos;
         at = files.main.find(text, at + 1)) {
      // Within JSON it stands in quotes; there the checksum sees it.
      if (files.main[at - 1] == '"' || files.main[at - 1] == '_') continue;
      ++places;
      CAPTURE(text, at);
      scratch_folder folder;
      auto bytes = files.main;
      // Sorts elsewhere, and cannot be found.
      bytes[at + text.size() - 1] = 'X';
      write_file(folder.path() / "riffle.db", bytes);
      const auto journal = open_store(folder.path());
      if (check_runs(*journal, *wanted, runs) < runs) ++noticed;
    }
  CHECK(places >= 3 + 5 + 3);
  CHECK(noticed >= 5);
}

TEST_CASE("a file that is no database is refused by name") {
  scratch_folder folder;
  const auto file = folder.path() / "riffle.db";
  SECTION("text") { write_file(file, std::string(5000, 'x')); }
  SECTION("a damaged header") {
    auto bytes = make_files(false).main;
    bytes[3] = 'X';
    write_file(file, bytes);
  }
  SECTION("a short file") { write_file(file, "SQLite format 3"); }
  const auto opened =
      storage::open_sqlite_journal(folder.path(), storage::durability::process);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == errc::storage_corrupt);
  CHECK(opened.error().message.find(file.string()) != std::string::npos);
}
