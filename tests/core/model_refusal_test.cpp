// SPDX-License-Identifier: MIT
// The words are those of the providers, as their users quote them.
#include "actors/core/model_refusal.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::core;

namespace {

error says(std::string message, errc code = errc::model_error) {
  return {code, "model request", std::move(message), false, {}};
}

const std::vector<std::string> all{"temperature",
                                   "top_p",
                                   "max_output_tokens",
                                   "stop",
                                   "seed",
                                   "reasoning_effort",
                                   "tool_choice",
                                   "thinking_budget",
                                   "parallel_tool_calls"};

std::string refused(const std::string& message) {
  return refused_parameter(says(message), all).value_or("none");
}

}  // namespace

TEST_CASE("every provider's words for a conversation that is too long") {
  for (const auto* words : {
           // OpenAI, Azure, DeepSeek, vLLM, OpenRouter
           "HTTP 400: This model's maximum context length is 8192 tokens. "
           "However, your messages resulted in 8193 tokens.",
           "Your input exceeds the context window of this model.",
           // Anthropic
           "HTTP 400: prompt is too long: 200251 tokens > 200000 maximum",
           "HTTP 413: Request too large",
           // Gemini
           "HTTP 400: The input token count (1048577) exceeds the maximum "
           "number of tokens allowed (1048576).",
           // Mistral
           "HTTP 400: Prompt contains 40000 tokens, too large for model with "
           "32768 maximum context length",
           // xAI
           "HTTP 400: This model's maximum prompt length is 131072 but the "
           "request contains 200000 tokens.",
           // Groq, Cerebras
           "HTTP 400: Please reduce the length of the messages or completion.",
           // Bedrock
           "HTTP 400: Input is too long for requested model.",
           // Together
           "HTTP 422: `inputs` tokens + `max_new_tokens` must be <= 8193.",
           // Kimi
           "HTTP 400: Invalid request: Your request exceeded model token "
           "limit: 8192",
           // vLLM
           "HTTP 400: The decoder prompt (length 5000) is longer than the "
           "maximum model length of 4096.",
           // llama.cpp, LM Studio, Ollama
           "HTTP 400: the request exceeds the available context size",
           "HTTP 400: The number of tokens to keep from the initial prompt is "
           "greater than the context length.",
           "the input length exceeds the context length",
       }) {
    CAPTURE(words);
    CHECK(is_context_overflow(says(words)));
    CHECK(plan_second_try(says(words), {}, {}, true) ==
          next_try{second_try::with_less, {}});
    CHECK_FALSE(is_context_overflow(says(words, errc::timeout)));
  }
}

TEST_CASE("what is no overflow") {
  CHECK_FALSE(is_context_overflow(says("HTTP 500: internal error")));
  CHECK_FALSE(is_context_overflow(
      says("HTTP 413: Request too large for model on tokens per minute")));
  CHECK_FALSE(is_context_overflow(
      says("HTTP 429: rate limit: too many tokens", errc::model_error)));
  CHECK_FALSE(is_context_overflow(says("HTTP 400: bad tools")));
}

TEST_CASE("a parameter that is refused is told from the server's words") {
  CHECK(refused("HTTP 400: Unsupported value: 'temperature' does not support "
                "0.2 with this model. Only the default (1) value is "
                "supported.") == "temperature");
  CHECK(refused("HTTP 400: Unsupported parameter: 'max_tokens' is not "
                "supported with this model.") == "max_output_tokens");
  CHECK(refused("HTTP 400: Unknown parameter: 'parallel_tool_calls'.") ==
        "parallel_tool_calls");
  CHECK(refused("HTTP 400: reasoning_effort is not supported with this "
                "model") == "reasoning_effort");
  CHECK(refused("HTTP 400: Unsupported parameter: 'reasoning.effort'") ==
        "reasoning_effort");
  CHECK(refused("HTTP 400: temperature: Extra inputs are not permitted") ==
        "temperature");
  CHECK(refused("HTTP 400: `top_p` is deprecated for this model.") == "top_p");
  CHECK(refused("HTTP 400: `temperature` may only be set to 1 when thinking "
                "is enabled.") == "temperature");
  CHECK(refused("HTTP 400: \"thinking\" is not supported by this model") ==
        "thinking_budget");
  CHECK(refused("HTTP 422: [{\"type\":\"extra_forbidden\",\"loc\":[\"body\","
                "\"seed\"]}]") == "seed");
  CHECK(refused("HTTP 400: Invalid JSON payload received. Unknown name "
                "\"seed\": Cannot find field.") == "seed");
  CHECK(refused_parameter(says("HTTP 400: property 'top_k' is unsupported"),
                          {"temperature", "top_k"}) == "top_k");
}

TEST_CASE("the parameter is the one whose longest name is said") {
  std::vector<std::string> more{"reasoning_effort", "reasoning_summary",
                                "response_schema", "include"};
  const auto of = [&](const char* message) {
    return refused_parameter(says(message), more).value_or("none");
  };
  CHECK(of("HTTP 400: Unsupported parameter: 'reasoning.effort' (param "
           "reasoning.effort)") == "reasoning_effort");
  CHECK(of("HTTP 400: Your organization must be verified to generate reasoning "
           "summaries. (reasoning.summary, unsupported_value)") ==
        "reasoning_summary");
  CHECK(of("HTTP 400: output_config.format: Extra inputs are not permitted") ==
        "response_schema");
  CHECK(of("HTTP 400: output_config.effort: Extra inputs are not permitted") ==
        "reasoning_effort");
  CHECK(of("HTTP 400: 'claude-x' does not support output format.") ==
        "response_schema");
  // A form that the server cannot make anything of.
  CHECK(of("HTTP 400: output_config.format.schema: For 'object' type, "
           "'additionalProperties' must be explicitly set to false") ==
        "response_schema");
  CHECK(of("HTTP 400: Encrypted content is not supported with this model. "
           "(include)") == "include");
  CHECK(of("HTTP 400: pictures are not supported; include a text") == "none");
  // Gemini, of a form beside tools.
  CHECK(of("HTTP 400: Function calling with a response mime type: "
           "'application/json' is unsupported") == "response_schema");
  // Ollama, before it had them, and what stands before it.
  CHECK(of("HTTP 400: json: cannot unmarshal object into Go struct field "
           "ChatRequest.format of type string") == "response_schema");
  CHECK(of("HTTP 400: \"format\" is not supported") == "response_schema");
  CHECK(of("HTTP 400: unsupported image format") == "none");
  // DeepSeek
  CHECK(of("HTTP 400: This response_format type is unavailable now") ==
        "response_schema");
}

TEST_CASE("a parameter may be named as programs of other languages do") {
  const auto of = [](const char* message) {
    return refused_parameter(says(message),
                             {"presence_penalty", "frequency_penalty", "stop",
                              "reasoning_effort", "tool_choice"})
        .value_or("none");
  };
  // xAI, today's words and those of before.
  CHECK(of("HTTP 400: Model grok-4.5 does not support parameter "
           "presencePenalty.") == "presence_penalty");
  CHECK(of("HTTP 400: Argument not supported on this model: "
           "frequencyPenalty") == "frequency_penalty");
  CHECK(of("HTTP 400: Model grok-4-latest does not support parameter "
           "reasoningEffort.") == "reasoning_effort");
  CHECK(of("HTTP 400: Argument not supported on this model: stop") == "stop");
  CHECK(of("HTTP 400: Argument not supported: presencePenaltyX") == "none");
  // DeepSeek and Kimi, of models that think.
  for (const auto* words :
       {"HTTP 400: Thinking mode does not support this tool_choice",
        "HTTP 400: deepseek-reasoner does not support this tool_choice",
        "HTTP 400: tool_choice 'specified' is incompatible with thinking "
        "enabled"})
    CHECK(of(words) == "tool_choice");
}

TEST_CASE("what refuses no parameter of ours") {
  CHECK(refused("HTTP 500: temperature is not supported") == "none");
  CHECK(refused("temperature is not supported") == "none");
  CHECK(refused("HTTP 400: messages: roles must alternate") == "none");
  CHECK(refused("HTTP 400: temperature must be below 2") == "none");
  CHECK(refused("HTTP 400: the seeding is not supported") == "none");
  CHECK(refused("HTTP 400: unsupported content type") == "none");
  CHECK_FALSE(
      refused_parameter(says("HTTP 400: Unknown parameter: 'seed'"), {}));
  CHECK_FALSE(refused_parameter(
      says("HTTP 400: Unknown parameter: 'seed'", errc::invalid_request), all));
}

TEST_CASE("when another model is asked") {
  CHECK(is_out_of_service(says("no route", errc::model_unreachable)));
  CHECK(is_out_of_service(says("HTTP 429: slow", errc::model_rate_limited)));
  for (const auto* words :
       {"HTTP 529: overloaded_error", "HTTP 503: no", "HTTP 402: pay",
        "Overloaded", "the model is at capacity",
        // Anthropic, DeepSeek, OpenRouter, xAI
        "HTTP 400: Your credit balance is too low to access the Anthropic "
        "API. Please go to Plans & Billing to upgrade or purchase credits.",
        "HTTP 400: Insufficient Balance", "HTTP 403: Insufficient credits",
        "HTTP 403: Your team has either used all available credits or reached "
        "its monthly spending limit."})
    CHECK(is_out_of_service(says(words)));
  for (const auto* words : {"HTTP 400: bad", "HTTP 401: key", "HTTP 500: x"})
    CHECK_FALSE(is_out_of_service(says(words)));
  CHECK(is_out_of_service(says(
      "no answer within the limit timeouts.first_byte (60 s)", errc::timeout)));
  CHECK(is_out_of_service(says(
      "no connection within the limit timeouts.connect (5 s)", errc::timeout)));
  CHECK_FALSE(is_out_of_service(
      says("the answer paused for longer than timeouts.idle (60 s)",
           errc::timeout)));
}

TEST_CASE("each second try is made once") {
  const auto full = says("prompt is too long");
  const auto odd = says("HTTP 400: Unknown parameter: 'seed'");
  const auto busy = says("HTTP 503: busy");
  CHECK(plan_second_try(full, all, {true, false}, false).how ==
        second_try::none);
  CHECK(plan_second_try(odd, all, {}, true) ==
        next_try{second_try::without_parameter, "seed"});
  CHECK(plan_second_try(odd, all, {false, true}, true).how == second_try::none);
  // What nobody asked for does not count.
  for (const auto* name : {"stream_options", "include", "reasoning_summary",
                           "eager_input_streaming"})
    CHECK(plan_second_try(says(std::string{"HTTP 400: unknown '"} + name + "'"),
                          {"seed", name}, {false, true}, false) ==
          next_try{second_try::without_parameter, name});
  CHECK(plan_second_try(busy, all, {}, true).how == second_try::other_model);
  CHECK(plan_second_try(busy, all, {}, false).how == second_try::none);
}
