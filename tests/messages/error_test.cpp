// SPDX-License-Identifier: MIT
#include "messages/error.hpp"

#include <set>

#include "tests/support/catch.hpp"

using namespace riffle;

TEST_CASE("error codes have the texts of the contract, in its order") {
  const std::string_view contract[] = {
      "invalid_plan",
      "agent_not_streaming",
      "step_execution_error",
      "tool_execution_error",
      "stream_interrupted",
      "timeout",
      "invalid_arguments",
      "tool_not_found",
      "tool_unavailable",
      "approval_denied",
      "approval_expired",
      "interrupted",
      "cancelled",
      "truncated",
      "model_error",
      "model_rate_limited",
      "model_unreachable",
      "max_steps_exceeded",
      "budget_exceeded",
      "loop_detected",
      "not_terminated",
      "session_busy",
      "storage_unavailable",
      "storage_corrupt",
      "invalid_config",
      "invalid_request",
      "not_found",
      "internal",
  };
  REQUIRE(std::size(contract) == errc_count);
  for (std::size_t i = 0; i < errc_count; ++i)
    CHECK(to_string(static_cast<errc>(i)) == contract[i]);
}

TEST_CASE("an error code comes back from its text") {
  std::set<std::string_view> texts;
  for (std::size_t i = 0; i < errc_count; ++i) {
    const auto code = static_cast<errc>(i);
    CHECK(parse_errc(to_string(code)) == code);
    texts.insert(to_string(code));
  }
  CHECK(texts.size() == errc_count);
  CHECK_FALSE(parse_errc(""));
  CHECK_FALSE(parse_errc("Timeout"));
  CHECK_FALSE(parse_errc("time"));
}

TEST_CASE("a code that is no enumerator has a text, too") {
  CHECK(to_string(static_cast<errc>(200)) == "unknown");
}

TEST_CASE("an error is rendered as code, message and place") {
  error x{.code = errc::timeout,
          .op = "tool.bash",
          .message = "no answer within 2 s",
          .retryable = true,
          .cause = "secret of a lower layer"};
  CHECK(render(x) == "timeout: no answer within 2 s (tool.bash)");
  x.op.clear();
  CHECK(render(x) == "timeout: no answer within 2 s");
  x.message.clear();
  CHECK(render(x) == "timeout");
}
