// SPDX-License-Identifier: MIT
#include "messages/error.hpp"

#include <set>

#include "tests/support/catch.hpp"

using namespace riffle;

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
