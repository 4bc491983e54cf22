// SPDX-License-Identifier: MIT
// Secrets are kept out of the files that tools write, and of what ends a run.
#include "actors/tools/redaction.hpp"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iterator>

#include "runtime/base/secrets.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using riffle::testing::temp_folder;

namespace {

constexpr const char* secret = "redaction-test-secret-4711";

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace

TEST_CASE("a secret is taken out of a file wherever it stands, no other byte") {
  add_secret(secret);
  const temp_folder folder;
  // Around the border of the pieces in which it is read, in one long line.
  constexpr std::size_t piece = 1u << 20;
  constexpr std::size_t window = 1u << 16;
  std::vector<std::size_t> places;
  for (const auto border :
       {piece, piece - window, piece - 2 * window, piece - 3 * window,
        2 * piece - 2 * window, 2 * piece})
    for (std::size_t at = border - 30; at <= border + 2; at += 4)
      places.push_back(at);
  for (const auto at : places) {
    CAPTURE(at);
    const std::string before(at, 'x');
    const std::string after(2 * piece, 'y');
    const auto file = folder.write("out", before + secret + after);
    redact_file(file);
    CHECK((text_of(file) == before + "***" + after));
  }
  std::string lines;
  for (int i = 0; i < 200'000; ++i) lines += "line " + std::to_string(i) + "\n";
  const auto file = folder.write("lines", lines + secret + "\n" + lines);
  redact_file(file);
  CHECK((text_of(file) == lines + "***\n" + lines));
}

TEST_CASE("a text without line ends costs what lines cost") {
  add_secret(secret);
  const temp_folder folder;
  const auto seconds_for = [&](const std::string& text) {
    const auto file = folder.write("out", text);
    const auto begin = std::clock();
    redact_file(file);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  std::string lines;
  while (lines.size() < (64u << 20)) lines += std::string(99, 'x') + "\n";
  const auto plain = seconds_for(lines);
  std::ranges::replace(lines, '\n', 'x');
  const auto whole = seconds_for(lines);
  CAPTURE(plain, whole);
  CHECK(whole < 3 * plain + 0.1);
}

TEST_CASE("a file without a secret stays the file that it is") {
  add_secret(secret);
  const temp_folder folder;
  const auto file = folder.write("out", "plain\n");
  const auto before = std::filesystem::last_write_time(file);
  redact_file(file);
  CHECK(text_of(file) == "plain\n");
  CHECK(std::filesystem::last_write_time(file) == before);
  redact_file(folder.path() / "none");
  redact_file({});
  CHECK_FALSE(std::filesystem::exists(folder.path() / "none"));
}

TEST_CASE("the error that ends a run shows no key that a model made a name") {
  add_secret(secret);
  riffle::testing::actor_fixture x;
  x.begin();
  x.provider->answers = {riffle::testing::model_calls(0, secret) +
                         riffle::testing::model_stops("tool_calls")};
  auto spec = x.make_spec();
  spec->agent.loop_limit = 3;
  x.start(spec);
  x.run_out();
  const auto why = riffle::testing::events_of(x.reader->lines, "error");
  REQUIRE(why.size() == 1);
  INFO(why[0].dump());
  CHECK(why[0].at("data").at("code") == "loop_detected");
  CHECK(why[0].dump().find(secret) == std::string::npos);
}
