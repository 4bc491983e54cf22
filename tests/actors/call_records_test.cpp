// SPDX-License-Identifier: MIT
#include "actors/tools/call_records.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;

TEST_CASE("text is cut between characters, and says that it was") {
  bool truncated = false;
  CHECK(cut_text("häuser", 3, truncated) == "häu");
  CHECK(truncated);
  CHECK(cut_text("häu", 3, truncated) == "häu");
  CHECK_FALSE(truncated);
}

TEST_CASE("the model is told of an error once, and of a cut") {
  call_result result;
  result.output = "0123456789";
  CHECK(told_text(result, 100) == "0123456789");
  CHECK(told_text(result, 4) ==
        "0123\n[the output was cut here; 10 bytes in all]");
  result.err = error{errc::timeout, "bash", "too slow"};
  CHECK(told_text(result, 100) == "Error (timeout): too slow\n\n0123456789");
  result.output = "so far, then: too slow";
  CHECK(told_text(result, 100) == "Error (timeout)\n\nso far, then: too slow");
}
