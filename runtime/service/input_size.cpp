// SPDX-License-Identifier: MIT
#include "runtime/service/input_size.hpp"

#include <cstdint>

#include "actors/core/context_window.hpp"
#include "actors/run/conversation.hpp"
#include "messages/runtime_note.hpp"
#include "runtime/base/text.hpp"

namespace riffle::service {

namespace {

/// About the tokens of a request that says this and nothing else.
std::uint64_t tokens_of_input(const run_spec& spec, std::uint64_t input) {
  conversation chat{{spec.dialect, spec.request, 0}};
  if (!spec.agent.system_prompt.empty())
    chat.say_system(spec.agent.system_prompt);
  return chat.estimate({}) + input;
}

bool fits_window(const run_spec& spec, std::uint64_t input) {
  const auto window = spec.model.context_window;
  if (window == 0 || input <= window / 2) return true;
  return input < window && tokens_of_input(spec, input) <= window;
}

}  // namespace

expected<void> check_input_size(const run_spec& spec) {
  if (!spec.dialect) return {};
  auto input = core::estimate_tokens(spec.question());
  for (const auto& x : spec.attachments) input += core::estimate_file_tokens(x);
  if (fits_window(spec, input)) return {};
  for (const auto& other : spec.fallback)
    if (fits_window(*other, input)) return {};
  const auto beside = tokens_of_input(spec, 0);
  return unexpected{error{
      errc::invalid_request, "run",
      "that is too long: about " + short_count(input) +
          " tokens, and the model " + spec.agent.model + " takes " +
          short_count(spec.model.context_window) + ", " + short_count(beside) +
          " of them for its instructions and tools (context_window)"}};
}

expected<void> check_told(const std::string& text) {
  const auto wrong = [](std::string why) {
    return unexpected{error{errc::invalid_request, "run", std::move(why)}};
  };
  if (trimmed(text).empty())
    return wrong("there is nothing to say to the run: give it a text");
  if (text.size() > most_told)
    return wrong("that is too long to be said to a run that works: " +
                 std::to_string(text.size()) + " bytes, " +
                 std::to_string(most_told) + " at most");
  if (trimmed(text).starts_with(trimmed(runtime_note)))
    return wrong("it begins as only notes of the runtime do");
  return {};
}

}  // namespace riffle::service
