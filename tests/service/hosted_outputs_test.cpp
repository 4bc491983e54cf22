// SPDX-License-Identifier: MIT
// What a node keeps of others' outputs goes with the process that had it.
#include "runtime/node/hosted_outputs.hpp"

#include <filesystem>
#include <fstream>

#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
namespace fs = std::filesystem;

namespace {

std::unique_ptr<hosted_outputs> open_in(const testing::temp_folder& x) {
  auto made = hosted_outputs::open(x.path() / "hosted");
  REQUIRE(made);
  return std::move(*made);
}

fs::path write_into(const fs::path& folder) {
  fs::create_directories(folder);
  std::ofstream{folder / "call_1"} << "half of it";
  return folder / "call_1";
}

}  // namespace

TEST_CASE("a node that starts removes outputs that a killed one left") {
  const testing::temp_folder data;
  // As `kill -9` leaves it: nobody holds it.
  const auto left = write_into(data.path() / "hosted" / "node_dead");
  const auto node = open_in(data);
  CHECK_FALSE(fs::exists(left.parent_path()));
  CHECK(fs::is_directory(node->folder()));
  CHECK((fs::status(node->folder()).permissions() & fs::perms::all) ==
        fs::perms::owner_all);
}

TEST_CASE("a node that starts leaves what no node made") {
  const testing::temp_folder data;
  const auto of_somebody = write_into(data.path() / "hosted" / "nodes");
  const auto node = open_in(data);
  CHECK(fs::exists(of_somebody));
}

TEST_CASE("nodes that share a data folder keep their outputs apart") {
  const testing::temp_folder data;
  auto first = open_in(data);
  const auto kept = write_into(first->folder());
  const auto second = open_in(data);
  CHECK(second->folder() != first->folder());
  CHECK(fs::exists(kept));
  first.reset();
  CHECK_FALSE(fs::exists(kept));
  CHECK(fs::is_directory(second->folder()));
}
