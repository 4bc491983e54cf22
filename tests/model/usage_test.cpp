// SPDX-License-Identifier: MIT
// What providers count, by each name that they have for it.
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "runtime/model/http_pace.hpp"
#include "tests/model/dialect_reading.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

token_usage chat_usage(const std::string& usage) {
  return read_answer("openai",
                     R"(data: {"choices":[{"index":0,"delta":{"content":"a"},)"
                     R"("finish_reason":"stop"}]})"
                     "\n\n"
                     R"(data: {"choices":[],"usage":)" +
                         json::parse(usage).dump() + "}\n\ndata: [DONE]\n\n")
      .usage();
}

token_usage claude_usage(const json& begin, const json& end) {
  return read_answer(
             "anthropic",
             typed_event({{"type", "message_start"},
                          {"message", {{"id", "m"}, {"usage", begin}}}}) +
                 typed_event({{"type", "message_delta"},
                              {"delta", {{"stop_reason", "end_turn"}}},
                              {"usage", end}}) +
                 typed_event({{"type", "message_stop"}}))
      .usage();
}

using counted = std::optional<std::uint64_t>;

/// As `token_usage` has them: input, output, cached, reasoning.
token_usage usage_is(std::uint64_t input, std::uint64_t output, counted cached,
                     counted reasoning) {
  return {input, output, cached, reasoning, {}, false};
}

}  // namespace

TEST_CASE("openai: cached and reasoning tokens have several names") {
  CHECK(chat_usage(R"({"prompt_tokens":70,"completion_tokens":50,
      "total_tokens":120,
      "prompt_tokens_details":{"cached_tokens":64,"audio_tokens":0},
      "completion_tokens_details":{"reasoning_tokens":40,"audio_tokens":0}})") ==
        usage_is(70, 50, 64, 40));
  // DeepSeek.
  CHECK(chat_usage(R"({"prompt_tokens":70,"completion_tokens":50,
      "prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":6})") ==
        usage_is(70, 50, 64, {}));
  CHECK(chat_usage(R"({"prompt_tokens":70,"completion_tokens":50,
      "prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":70})") ==
        usage_is(70, 50, 0, {}));
  // Kimi, and one that calls all by other names.
  CHECK(chat_usage(R"({"prompt_tokens":70,"completion_tokens":50,
      "cached_tokens":64})") == usage_is(70, 50, 64, {}));
  CHECK(chat_usage(R"({"input_tokens":70,"output_tokens":50,
      "reasoning_tokens":40})") == usage_is(70, 50, {}, 40));
  CHECK(chat_usage(R"({"prompt_tokens":70,"completion_tokens":50,
      "prompt_tokens_details":null,"completion_tokens_details":null})") ==
        usage_is(70, 50, {}, {}));
}

TEST_CASE("responses: cached and reasoning tokens are counted") {
  const auto m = read_answer(
      "responses",
      typed_event({{"type", "response.completed"},
                   {"response",
                    {{"status", "completed"},
                     {"usage",
                      {{"input_tokens", 70},
                       {"input_tokens_details", {{"cached_tokens", 64}}},
                       {"output_tokens", 50},
                       {"output_tokens_details", {{"reasoning_tokens", 40}}},
                       {"total_tokens", 120}}}}}}));
  CHECK(m.usage() == usage_is(70, 50, 64, 40));
}

TEST_CASE("anthropic: input is what was read, written and new") {
  const json begin = {{"input_tokens", 3},
                      {"cache_creation_input_tokens", 20},
                      {"cache_read_input_tokens", 300},
                      {"output_tokens", 1}};
  CHECK(claude_usage(begin, {{"output_tokens", 9}}) ==
        usage_is(323, 9, 300, {}));
  // The last report counts, nothing is added up.
  auto end = begin;
  end["input_tokens"] = 5;
  end["cache_read_input_tokens"] = 400;
  end["output_tokens"] = 9;
  end["output_tokens_details"] = {{"thinking_tokens", 6}};
  CHECK(claude_usage(begin, end) == usage_is(425, 9, 400, 6));
  CHECK(claude_usage({{"input_tokens", 3}, {"output_tokens", 1}},
                     {{"output_tokens", 9}}) == usage_is(3, 9, {}, {}));
}

TEST_CASE("ollama: what it counts of its cache is not known") {
  CHECK(read_answer("ollama", R"({"message":{"content":"a"},"done":true,)"
                              R"("done_reason":"stop","prompt_eval_count":7,)"
                              R"("eval_count":5})")
            .usage() == usage_is(7, 5, {}, {}));
}

TEST_CASE("the headers of each provider's limits are read") {
  constexpr wall_time now{1'767'225'600'000'000};  // 2026-01-01T00:00:00Z
  struct names {
    const char* limit;
    const char* left;
    const char* reset;
  };
  // OpenAI, Groq and many others; Cerebras counts requests by the day and
  // tokens by the minute; Anthropic; OpenRouter.
  constexpr std::array<names, 9> all{{
      {"x-ratelimit-limit-requests", "x-ratelimit-remaining-requests",
       "x-ratelimit-reset-requests"},
      {"x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens",
       "x-ratelimit-reset-tokens"},
      {"x-ratelimit-limit-requests-day", "x-ratelimit-remaining-requests-day",
       "x-ratelimit-reset-requests-day"},
      {"x-ratelimit-limit-tokens-minute", "x-ratelimit-remaining-tokens-minute",
       "x-ratelimit-reset-tokens-minute"},
      {"anthropic-ratelimit-requests-limit",
       "anthropic-ratelimit-requests-remaining",
       "anthropic-ratelimit-requests-reset"},
      {"anthropic-ratelimit-tokens-limit",
       "anthropic-ratelimit-tokens-remaining",
       "anthropic-ratelimit-tokens-reset"},
      {"anthropic-ratelimit-input-tokens-limit",
       "anthropic-ratelimit-input-tokens-remaining",
       "anthropic-ratelimit-input-tokens-reset"},
      {"anthropic-ratelimit-output-tokens-limit",
       "anthropic-ratelimit-output-tokens-remaining",
       "anthropic-ratelimit-output-tokens-reset"},
      {"x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"},
  }};
  for (const auto& x : all) {
    CAPTURE(x.limit);
    std::map<std::string, std::string> headers{
        {x.limit, "100"}, {x.left, "0"}, {x.reset, "33011.382867"}};
    const auto pace = [&] {
      return model::read_pace(
          [&](const std::string& name) { return headers[name]; }, 1, now);
    };
    CHECK(pace() == 1min);  // never longer
    headers[x.reset] = "30";
    CHECK(pace() == 30s);
    headers[x.left] = "9";
    CHECK(pace() == 3s);  // those that are left are spread
    headers[x.left] = "21";
    CHECK_FALSE(pace());  // enough is left
  }
}

TEST_CASE("sums of a provider's own numbers stop at the largest") {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  const auto x = claude_usage({{"input_tokens", most},
                               {"cache_read_input_tokens", 2},
                               {"cache_creation_input_tokens", 3},
                               {"output_tokens", 1}},
                              {{"output_tokens", most}});
  CHECK(x.input_tokens == most);
  CHECK(x.output_tokens == most);
}
