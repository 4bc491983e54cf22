// SPDX-License-Identifier: MIT
#include "runtime/storage/health_registry.hpp"

#include <csignal>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::storage;

namespace {

std::size_t files_in(const std::filesystem::path& folder) {
  std::error_code none;
  std::size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator{folder, none})
    n += entry.exists() ? 1 : 0;
  return n;
}

}  // namespace

TEST_CASE("an outage is read while it lasts") {
  const testing::scratch_folder place;
  const auto folder = place.path() / "service";
  {
    health_registry board{folder};
    board.publish();
    CHECK_FALSE(std::filesystem::exists(folder));  // nothing to say
    board.note("bash", "it crashed 6 times");
    CHECK(read_outages(folder).empty());
    board.publish();
    const auto one = read_outages(folder);
    REQUIRE(one.size() == 1);
    CHECK(one[0].tool == "bash");
    CHECK(one[0].why == "it crashed 6 times");
    CHECK(one[0].process == ::getpid());
    CHECK(one[0].since.us > 0);
    health_registry other{folder};
    other.note("act", "worse");
    other.publish();
    const auto both = read_outages(folder);
    REQUIRE(both.size() == 2);
    CHECK(both[0].tool == "act");
    board.note("bash", "");
    board.publish();
    CHECK(read_outages(folder).size() == 1);
  }
  CHECK(files_in(folder) == 0);
}

TEST_CASE("who begins to say something takes away what the dead left") {
  const testing::scratch_folder place;
  {
    std::ofstream{place.path() / "board-dead"} << "[]";
    CHECK(files_in(place.path()) == 1);
    process_board board{place.path()};
    CHECK_FALSE(board.has_said());
    REQUIRE(board.write("one"));
    REQUIRE(board.write("two, which is longer"));
    REQUIRE(board.write("three"));
    CHECK(files_in(place.path()) == 1);
    CHECK(read_boards(place.path()) == std::vector<std::string>{"three"});
  }
  CHECK(files_in(place.path()) == 0);
}

TEST_CASE("what a killed process left is not read, and goes") {
  const testing::scratch_folder place;
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    health_registry board{place.path()};
    board.note("bash", "gone");
    board.publish();
    [[maybe_unused]] const auto n = ::write(ready[1], "x", 1);
    while (true) ::pause();
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  REQUIRE(read_outages(place.path()).size() == 1);
  CHECK(read_outages(place.path())[0].process == child);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(read_outages(place.path()).empty());
  CHECK(files_in(place.path()) == 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("a file that is no board is passed over") {
  const testing::scratch_folder place;
  CHECK(read_outages(place.path() / "none").empty());
  std::ofstream{place.path() / "board-x"} << "not JSON";
  CHECK(read_outages(place.path()).empty());
}

TEST_CASE("an outage is told once its file can be made") {
  const testing::scratch_folder place;
  const auto folder = place.path() / "service";
  health_registry board{folder};
  board.note("bash", "it crashed 6 times");
  {
    std::ofstream{folder} << "in the way";
    board.publish();
    CHECK(read_outages(folder).empty());
    std::filesystem::remove(folder);
  }
  board.publish();
  CHECK(read_outages(folder).size() == 1);
}

TEST_CASE("many outages with long reasons are read") {
  const testing::scratch_folder place;
  const auto folder = place.path() / "service";
  health_registry board{folder};
  for (int i = 0; i < 100; ++i)
    board.note("tool_" + std::to_string(i), std::string(100'000, 'x'));
  board.publish();
  const auto all = read_outages(folder);
  CHECK(all.size() > 20);
  CHECK(all.size() <= 100);
}
