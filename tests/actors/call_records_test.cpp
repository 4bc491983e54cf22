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

TEST_CASE("what a failed call put out stands without its error") {
  const auto told = [](const std::string& output, const std::string& why) {
    call_result result;
    result.output = output;
    if (!why.empty())
      result.err = error{errc::tool_execution_error, "bash", why};
    storage::call_record out;
    out.told = told_text(result, 100);
    out.err = result.err;
    return told_output(out);
  };
  CHECK(told("all\n\ngood", "") == "all\n\ngood");
  CHECK(told("a\n\nb", "exit status 2") == "a\n\nb");
  CHECK(told("a\n\nexit status 2", "exit status 2") == "a\n\nexit status 2");
  CHECK(told("", "no such file").empty());
}

TEST_CASE("the event of a failed call has the end of what it put out") {
  tool_call call;
  call_result result;
  result.output = "häuser\nerror";
  CHECK(result_event(call, result, 5).output == "häuse");
  result.how = outcome::failed;
  result.err = error{errc::tool_execution_error, "bash", "exit status 2"};
  auto x = result_event(call, result, 11);
  CHECK(x.output == "äuser\nerror");
  CHECK(x.truncated);
  x = result_event(call, result, 12);
  CHECK(x.output == result.output);
  CHECK_FALSE(x.truncated);
  // Without an output its error, which begins with what is wrong.
  result.output.clear();
  x = result_event(call, result, 4);
  CHECK(x.output == "exit");
  CHECK(x.truncated);
}
