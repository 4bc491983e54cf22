// SPDX-License-Identifier: MIT
#include "tools/kept_file.hpp"

#include <fstream>
#include <iterator>
#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/shell/output_spool.hpp"

using namespace riffle;
using namespace riffle::tools;
using riffle::testing::temp_folder;

namespace {

std::string content(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace

TEST_CASE("an output that fits needs no file") {
  const temp_folder folder;
  const auto file = folder.path() / "x";
  output_spool kept{100, file};
  kept.append(std::string(100, 'a'));
  CHECK_FALSE(kept.truncated());
  CHECK_FALSE(kept.whole().good());
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("what is longer than is kept of a call is not kept at all") {
  const temp_folder folder;
  const auto file = folder.path() / "x";
  kept_file_writer kept{file, 10};
  kept.write("123456789");
  kept.write("0");
  REQUIRE(kept.good());
  CHECK(content(file) == "1234567890");
  kept.write("1");
  CHECK_FALSE(kept.good());
  CHECK(kept.problem().find("1 GiB") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(file));
  kept.write("2");
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("an output that is too long is in its file, whole") {
  const auto seed = testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  for (int i = 0; i < 100; ++i) {
    const temp_folder folder;
    const auto file = folder.path() / "x";
    std::ofstream{file} << "of an earlier attempt";
    std::string all;
    {
      output_spool kept{40 + random() % 100, file};
      while (!kept.truncated() || random() % 20 != 0) {
        std::string piece(1 + random() % 60,
                          static_cast<char>('a' + all.size() % 26));
        piece += random() % 2 ? "é\n" : "";
        kept.append(piece);
        all += piece;
      }
      REQUIRE(kept.whole().good());
      CHECK(kept.bytes() == all.size());
    }
    REQUIRE(content(file) == all);
    const auto mode = std::filesystem::status(file).permissions();
    CHECK((mode & std::filesystem::perms::others_all) ==
          std::filesystem::perms::none);
  }
}

TEST_CASE("what cannot be written whole is not kept, and says why") {
  output_spool kept{10, "/nowhere/at/all"};
  kept.append(std::string(100, 'a'));
  CHECK(kept.truncated());
  CHECK_FALSE(kept.whole().good());
  CHECK(kept.whole().problem() == "No such file or directory");
  kept.append("b");
  CHECK(kept.text().find("bytes left out") != std::string::npos);
}

TEST_CASE("only plain ids name a file") {
  CHECK(kept_file("/d", {"call_01j9-x"}) == "/d/call_01j9-x");
  for (const std::string id :
       {"", "..", "a/b", "../../etc/passwd", "a.b", "a b"}) {
    CAPTURE(id);
    CHECK_FALSE(kept_file("/d", {id}));
  }
  CHECK_FALSE(kept_file("", {"call_1"}));
}
