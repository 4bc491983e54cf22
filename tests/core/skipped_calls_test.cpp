// SPDX-License-Identifier: MIT
// What is kept, and counted, of calls behind the limit of their turn.
#include <string>

#include "actors/core/tool_call_assembler.hpp"
#include "tests/support/catch.hpp"

using riffle::core::assembly_step;
using riffle::core::tool_call_assembler;

TEST_CASE("of calls that nobody executes no arguments are kept") {
  tool_call_assembler calls{{.most_calls = 3, .most_kept = 1}};
  std::size_t whole = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const auto name = calls.on_fragment({0, i, "id", "read", R"({"a":)"});
    const auto rest = calls.on_fragment({0, i, "", "", "1}"});
    for (const auto& x : rest) whole += x.step == assembly_step::whole ? 1 : 0;
  }
  CHECK(whole == 3);  // they are calls all the same
  REQUIRE(calls.calls().size() == 3);
  CHECK(calls.calls()[0].arguments == R"({"a":1})");
  CHECK(calls.calls()[1].arguments.empty());
  CHECK(calls.calls()[2].arguments.empty());
  const std::size_t each = 6 + 7;  // an id, a name, arguments
  CHECK(calls.received() == each);
  CHECK(calls.dropped_bytes() == 3 * each);  // also of the one behind the most
  CHECK(calls.dropped() == 1);
}

TEST_CASE("what comes again is no other call, and counts wherever it does") {
  tool_call_assembler calls{{.most_calls = 3, .most_kept = 1}};
  const std::string arguments = R"({"a":1})";
  for (std::uint32_t i = 0; i < 2; ++i)
    for (int again = 0; again < 3; ++again)
      calls.on_fragment({0, i, "id", "read", arguments});
  CHECK(calls.calls().size() == 2);
  const std::size_t each = 6 + arguments.size();
  CHECK(calls.received() == 3 * each);
  CHECK(calls.dropped_bytes() == 3 * each);
  // Nothing but its name, as often as one likes.
  for (int again = 0; again < 10; ++again)
    calls.on_fragment({0, 1, "id", "read", ""});
  CHECK(calls.calls().size() == 2);
  CHECK(calls.dropped_bytes() == 3 * each + 10 * 6);
  // Other arguments are another call's.
  calls.on_fragment({0, 1, "id", "read", R"({"a":2})"});
  CHECK(calls.calls().size() == 3);
}
