// SPDX-License-Identifier: MIT
#include "runtime/base/text.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;

TEST_CASE("a trimmed text has no blanks at its ends") {
  CHECK(trimmed(" \t a b\r\n") == "a b");
  CHECK(trimmed(" \n").empty());
  CHECK(trimmed("").empty());
  CHECK(trimmed(" a\n", " ") == "a\n");
}

TEST_CASE("durations and sizes are short") {
  CHECK(short_duration(0) == "0.0s");
  CHECK(short_duration(49) == "0.0s");
  CHECK(short_duration(50) == "0.1s");
  CHECK(short_duration(59'949) == "59.9s");
  CHECK(short_duration(59'950) == "1m 00s");
  CHECK(short_duration(65'000) == "1m 05s");
  CHECK(short_duration(3'599'499) == "59m 59s");
  CHECK(short_duration(7'200'000) == "2h 00m");
  CHECK(short_size(0) == "0 B");
  CHECK(short_size(1023) == "1023 B");
  CHECK(short_size(1024) == "1.0 KB");
  CHECK(short_size(1331) == "1.3 KB");
  CHECK(short_size(35 * 1024) == "35 KB");
  CHECK(short_size(1024 * 1024 - 1) == "1.0 MB");
  CHECK(short_size(2'621'440) == "2.5 MB");
}

TEST_CASE("sizes with one decimal, counts with few digits") {
  CHECK(size_text(0) == "0 B");
  CHECK(size_text(1023) == "1023 B");
  CHECK(size_text(1331) == "1.3 KB");
  CHECK(size_text(35 * 1024) == "35.0 KB");
  CHECK(size_text(5u << 20) == "5.0 MB");
  CHECK(size_text(1024 * 1024 - 1) == "1.0 MB");
  CHECK(short_count(999) == "999");
  CHECK(short_count(1234) == "1.2k");
  CHECK(short_count(35'000) == "35k");
  CHECK(short_count(999'999) == "1.0M");
  CHECK(short_count(~std::uint64_t{0}) == "18E");
}

TEST_CASE("the nearest word is found, a far one is not") {
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(nearest("modle", {"agent", "model"}) == "model");
  CHECK(nearest("xyz", {"agent", "model"}).empty());
}

TEST_CASE("names are joined, as many as are wanted") {
  CHECK(join_some({}).empty());
  CHECK(join_some({"a", "b", "c"}) == "a, b, c");
  CHECK(join_some({"a", "b", "c"}, 2) == "a, b and 1 more");
}
