// SPDX-License-Identifier: MIT
#include "runtime/http/sse.hpp"

#include "tests/support/catch.hpp"

using namespace riffle::http;

namespace {

std::string line(int seq, const std::string& type) {
  return R"({"seq":)" + std::to_string(seq) +
         R"(,"run_id":"run_1","event_type":")" + type +
         R"(","data":{},"timestamp":"x"})" + "\n";
}

}  // namespace

TEST_CASE("each event is a frame with its number, its type and its line") {
  const auto a = line(7, "step_start");
  const auto b = line(8, "llm_token");
  CHECK(to_sse(a + b, 7, "") == "id: 7\nevent: step_start\ndata: " + a +
                                    "\nid: 8\nevent: llm_token\ndata: " + b +
                                    "\n");
}

TEST_CASE("a failure travels under a name that EventSource leaves alone") {
  const auto x = line(1, "error");
  CHECK(to_sse(x, 1, "") == "id: 1\nevent: run_error\ndata: " + x + "\n");
  CHECK(sse_type_of("error") == "run_error");
  CHECK(sse_type_of("final_answer") == "final_answer");
}

TEST_CASE("frames of a session's stream name the run in their ids") {
  CHECK(to_sse(line(3, "status"), 3, "2-").starts_with("id: 2-3\n"));
}

TEST_CASE("a number of an event is digits alone") {
  CHECK(parse_seq("0") == 0);
  CHECK(parse_seq("17") == 17);
  CHECK(parse_seq("999999999999999") == 999999999999999);
  for (const auto* bad : {"", "-1", "+1", " 1", "1 ", "01", "1.0", "x", "0x1",
                          "1000000000000000", "1-2"})
    CHECK_FALSE(parse_seq(bad));
}

TEST_CASE("a place in a session is a run and an event") {
  const auto x = parse_session_place("3-17");
  REQUIRE(x);
  CHECK(x->ordinal == 3);
  CHECK(x->seq == 17);
  CHECK(parse_session_place("1-0"));
  for (const auto* bad :
       {"", "3", "3-", "-3", "0-1", "3-1-2", "3-x", "a-1", "03-1", "3-01"})
    CHECK_FALSE(parse_session_place(bad));
}

TEST_CASE("a stream says once how long its clients wait") {
  CHECK(sse_opening(1500) == "retry: 1500\n\n");
  CHECK(sse_opening(1500, start_of_commit(12)) ==
        "retry: 1500\nid: 12.0-0\n\n");
  CHECK(sse_heartbeat == ":\n\n");
}
