// SPDX-License-Identifier: MIT
// What the file takes at rest, what a deletion gives back, and what is written
// once.
#include <cstdlib>

#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"

namespace {

using namespace riffle;
using namespace riffle::testing;
namespace fs = std::filesystem;

std::string name_of(std::size_t i) { return "run_" + std::to_string(i); }

/// Runs that each get their events one by one, in turn.
void fill(storage::journal& to, std::size_t runs, std::uint64_t events,
          std::size_t line) {
  for (std::size_t i = 1; i <= runs; ++i)
    REQUIRE(to.open_run(make_run("ses_" + std::to_string(i), name_of(i))));
  for (std::uint64_t seq = 1; seq < events; ++seq)
    for (std::size_t i = 1; i <= runs; ++i)
      to.append({{name_of(i)}, make_block(name_of(i), seq, seq, line), {}},
                [](auto failure) {
                  if (failure) std::abort();
                });
  for (std::size_t i = 1; i <= runs; ++i) {
    auto run = to.load_run({name_of(i)}).value();
    run.state = storage::run_state::completed;
    REQUIRE_FALSE(store(
        to, {run.id, make_block(name_of(i), events, events, line), {run}}));
  }
}

}  // namespace

TEST_CASE("what a deletion frees is used again, so the file does not grow") {
  scratch_folder folder;
  const auto fill_and_delete = [&] {
    const auto journal = open_store(folder.path());
    fill(*journal, 20, 100, 200);
    for (std::size_t i = 1; i <= 20; ++i)
      REQUIRE(journal->delete_session({"ses_" + std::to_string(i)}));
  };
  const auto pages = [&](const std::string& pragma) {
    return storage::sqlite::database{folder.path() / "riffle.db",
                                     std::chrono::seconds{1}}
        .integer("PRAGMA " + pragma);
  };
  fill_and_delete();
  const auto first = pages("page_count");
  REQUIRE(first * 4096 > 20 * 100 * 200);
  CHECK(pages("freelist_count") * 10 > first * 7);
  for (int again = 0; again < 3; ++again) fill_and_delete();
  // Without it there were four times as many. How the events fall into
  // commits, and so into pages, is the writer's: a tenth comes and goes.
  CHECK(pages("page_count") * 10 <= first * 15);
}

TEST_CASE("an event at rest takes few bytes more than its line has") {
  constexpr std::uint64_t runs = 100;
  constexpr std::uint64_t events = 100;
  constexpr std::uint64_t line = 200;
  scratch_folder folder;
  {
    const auto journal = open_store(folder.path());
    fill(*journal, runs, events, line);
  }
  // 257 with a row for each block, and a tenth more at most.
  const auto bytes = fs::file_size(folder.path() / "riffle.db");
  CHECK(bytes > runs * events * line);
  CHECK(bytes <= runs * events * 282);
}

TEST_CASE("of the records of a call in one commit the newest stays, once") {
  scratch_folder folder;
  const auto journal = open_store(folder.path());
  REQUIRE(journal->open_run(make_run("ses_1", "run_1")));
  auto a = make_call("run_1", "call_a");
  auto b = make_call("run_1", "call_b");
  const auto with = [](storage::call_record x, const std::string& told) {
    x.told = told;
    return x;
  };
  REQUIRE_FALSE(store(*journal, {{"run_1"},
                                 {},
                                 {with(a, "1"), with(b, "1"), with(a, "2"),
                                  with(b, "2"), with(a, "3")}}));
  CHECK(journal->load_session({"ses_1"})->calls ==
        std::vector{with(a, "3"), with(b, "2")});
  REQUIRE_FALSE(store(*journal, {{"run_1"}, {}, {with(b, "4")}}));
  CHECK(journal->load_session({"ses_1"})->calls ==
        std::vector{with(a, "3"), with(b, "4")});
}
