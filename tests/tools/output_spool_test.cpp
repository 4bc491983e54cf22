// SPDX-License-Identifier: MIT
#include "tools/builtin/shell/output_spool.hpp"

#include "tests/support/catch.hpp"
#include "tests/tools/tool_fixture.hpp"

using namespace riffle;
using namespace riffle::tools;

TEST_CASE("output up to the cap is kept as it is") {
  output_spool out{10};
  out.append("12345");
  out.append("67\n");
  out.append("90");
  CHECK(out.text() == "1234567\n90");
  CHECK(out.lines() == 2);
  CHECK(out.bytes() == 10);
  CHECK_FALSE(out.truncated());
}

TEST_CASE("longer output keeps its beginning and its end") {
  output_spool out{10};
  for (int i = 0; i < 1000; ++i) out.append("abc");
  CHECK(out.truncated());
  CHECK(out.text() == "abcab\n[... 2990 bytes left out ...]\nbcabc");
  CHECK(out.bytes() == 3000);
}

TEST_CASE("one long piece and many short ones keep the same") {
  std::string all;
  for (int i = 0; i < 5000; ++i) all += std::to_string(i) + "\u20ac\n";
  output_spool once{1000};
  output_spool often{1000};
  once.append(all);
  for (std::size_t i = 0; i < all.size(); i += 1) {
    auto end = i + 1;  // whole characters, as the contract asks for
    while (end < all.size() && (all[end] & 0xC0) == 0x80) ++end;
    often.append(std::string_view{all}.substr(i, end - i));
    i = end - 1;
  }
  CHECK(once.text() == often.text());
  CHECK(once.text().size() < 1100);
  CHECK(once.lines() == 5000);
}

TEST_CASE("progress is whole lines, and a piece when nothing follows") {
  std::vector<tool_progress_report> seen;
  const line_reporter::sink sink = [&](tool_progress_report x) {
    seen.push_back(std::move(x));
  };
  line_reporter lines{"stderr", sink};
  lines.append("one\ntw");
  REQUIRE(seen.size() == 1);
  CHECK(seen[0] ==
        tool_progress_report{.message = "one\n", .stream = "stderr"});
  lines.append("o");
  CHECK(seen.size() == 1);
  lines.flush();
  lines.flush();
  REQUIRE(seen.size() == 2);
  CHECK(seen[1].message == "two");
}

TEST_CASE("a report holds the newest part and is bounded") {
  std::vector<std::string> seen;
  const line_reporter::sink sink = [&](tool_progress_report x) {
    seen.push_back(std::move(x.message));
  };
  line_reporter lines{"stdout", sink};
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += std::to_string(i) + "\n";
  lines.append(many);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].size() <= line_reporter::longest);
  CHECK(seen[0].ends_with("9998\n9999\n"));
  CHECK(many.find("\n" + seen[0]) != std::string::npos);
  seen.clear();
  lines.append(std::string(100'000, 'x'));
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].size() == line_reporter::longest);
}
