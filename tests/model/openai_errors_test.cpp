// SPDX-License-Identifier: MIT
// Errors that come with status 200, and answers that are no stream.
#include <string>
#include <string_view>
#include <vector>

#include "tests/model/openai_streams.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;

TEST_CASE("errors in the stream are found in every shape") {
  check_failure(read(event(R"({"error":{"message":"m","type":"t"}})")),
                errc::model_error, true, "m");
  check_failure(read(event(R"({"error":"boom"})")), errc::model_error, true,
                "boom");
  check_failure(read(event(R"({"error":true})")), errc::model_error, true);
  check_failure(read(event(R"({"object":"error","message":"m","code":400})")),
                errc::model_error, false, "m");
  check_failure(read(event(R"({"type":"error","message":"m"})")),
                errc::model_error, true, "m");
  check_failure(
      read(event(R"({"error":{"code":502,"message":"m"},"choices":[{"delta":)"
                 R"({},"finish_reason":"error"}]})")),
      errc::model_error, true, "m");
  check_failure(
      read(event(R"({"choices":[{"delta":{},"finish_reason":"error"}]})")),
      errc::model_error, true);
  check_failure(read(event(R"({"choices":[{"error":{"message":"m"}}]})")),
                errc::model_error, true, "m");
  check_failure(read(event(R"([{"error":{"message":"m","code":403}}])")),
                errc::model_error, false, "m");
  check_failure(read("event: error\ndata: {\"message\":\"m\"}\n\n"),
                errc::model_error, true, "m");
  check_failure(read("event: error\ndata: it \xFF broke\n\n"),
                errc::model_error, true, "it \xEF\xBF\xBD broke");
  CHECK_FALSE(read(event(R"({"error":null,"choices":[]})") + stop).failure);
  CHECK_FALSE(read(event(R"({"error":{},"choices":[]})") + stop).failure);
}

TEST_CASE("errors in the stream tell what the server behind a gateway said") {
  check_failure(
      read(event(R"({"error":{"code":502,"message":"Provider returned error",)"
                 R"("metadata":{"raw":"{\"error\":{\"message\":\"too )"
                 R"(long\"}}"}},"choices":[]})")),
      errc::model_error, true, "Provider returned error: too long");
  check_failure(read(event(R"({"error":{"message":"m","metadata":{"raw":)"
                           R"({"error":{"code":"insufficient_quota"}}}}})")),
                errc::model_rate_limited, false, "m: (insufficient_quota)");
  const auto odd =
      read(event(R"({"error":{"message":"m","code":400,"param":"seed"}})"));
  check_failure(odd, errc::model_error, false, "m");
  CHECK(odd.failure->cause == "status 400 (seed)");
}

TEST_CASE("codes and types say whether an error may be retried") {
  const auto with = [](std::string_view members) {
    return read(
        event(R"({"error":{"message":"m",)" + std::string{members} + "}}"));
  };
  check_failure(with(R"("code":429)"), errc::model_rate_limited, true);
  check_failure(with(R"("code":"429")"), errc::model_rate_limited, true);
  check_failure(with(R"("type":"rate_limit_error")"), errc::model_rate_limited,
                true);
  check_failure(with(R"("code":"insufficient_quota","status":429)"),
                errc::model_rate_limited, false);
  check_failure(with(R"("type":"overloaded_error")"), errc::model_error, true);
  check_failure(with(R"("code":503)"), errc::model_error, true);
  check_failure(with(R"("status_code":408)"), errc::model_error, true);
  check_failure(with(R"("code":400)"), errc::model_error, false);
  check_failure(with(R"("type":"invalid_request_error","code":null)"),
                errc::model_error, false);
  check_failure(with(R"("type":"new_kind")"), errc::model_error, true);
  check_failure(with(R"("code":"tool_use_failed","status_code":400)"),
                errc::model_error, true);
}

TEST_CASE("a document instead of a stream is an answer or an error") {
  const auto x = read(
      R"({"object":"chat.completion","choices":[{"index":0,"message":{"role":)"
      R"("assistant","content":"Hi","tool_calls":[{"id":"a","type":"function",)"
      R"("function":{"name":"read","arguments":"{}"}},{"function":)"
      R"({"name":"read","arguments":"{}"}}]},"finish_reason":"tool_calls"}],)"
      R"("usage":{"prompt_tokens":1,"completion_tokens":2}})",
      3);
  CHECK(texts(x) == "Hi");
  const std::vector<call_fragment> expected{
      {0, 0u, "a", "read", "{}", false, true},
      {0, 1u, "", "read", "{}", false, true},
  };
  CHECK(x.fragments == expected);
  CHECK(x.finish == finish_reason::tool_calls);
  CHECK(x.usage == token_usage{1, 2, {}, {}, {}, false});
  CHECK(x.done);
  CHECK_FALSE(x.failure);

  check_failure(read(R"( {"error":{"message":"no key","code":401}})"),
                errc::model_error, false, "no key");
  check_failure(read(R"({"detail":"Not here"})"), errc::model_error, true,
                "Not here");
  check_failure(read("{malformed json: <<<chaos>>>"), errc::stream_interrupted,
                true, "no JSON");
  check_failure(read("\xEF\xBB\xBF\n<!DOCTYPE html><p>Hi", 1),
                errc::model_error, true, "web page");
}

TEST_CASE("nesting without end is refused, not followed") {
  const std::string open(100000, '[');
  check_failure(read(event(R"({"error":)" + open)), errc::stream_interrupted,
                true);
  check_failure(read(open), errc::stream_interrupted, true);
}

TEST_CASE("an answer beyond the limits fails") {
  const std::string big(1000, 'x');
  const auto text = delta("{\"content\":\"" + big + "\"}");
  check_failure(read(text, 1u << 20, {500, 1u << 20}), errc::stream_interrupted,
                true, "500 bytes");
  check_failure(read(text + text, 64, {1u << 20, 1500}), errc::model_error,
                false, "1500 bytes");
  check_failure(read("{\"a\":\"" + big, 64, {500, 1u << 20}),
                errc::stream_interrupted, true);
}
