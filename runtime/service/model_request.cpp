// SPDX-License-Identifier: MIT
#include "runtime/service/model_request.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "runtime/base/digest.hpp"
#include "runtime/config/providers.hpp"

namespace riffle::service {

expected<std::shared_ptr<const model::dialect>> make_dialect(
    const config::model_config& x) {
  std::shared_ptr<const model::dialect> made = model::make_dialect(
      x.dialect == "scripted" ? "openai" : x.dialect, config::quirks_of(x));
  if (made) return made;
  return unexpected{error{errc::invalid_config,
                          "runtime",
                          "there is no dialect \"" + x.dialect + "\"",
                          false,
                          {}}};
}

namespace {

/// Models of Claude from before there were forms.
bool is_formless(std::string_view model) {
  for (const auto* begin :
       {"claude-2", "claude-3", "claude-instant", "claude-opus-4-0",
        "claude-opus-4-2", "claude-sonnet-4-0", "claude-sonnet-4-2"})
    if (model.starts_with(begin)) return true;
  return false;
}

bool takes(const config::model_config& x, const std::string& parameter) {
  const auto refused = config::quirks_of(x).refuses;
  return x.dialect != "scripted" && model::can_express(x.dialect, parameter) &&
         std::ranges::find(refused, parameter) == refused.end();
}

}  // namespace

bool fits_schemas(const config::model_config& x) {
  if (x.dialect == "anthropic" && is_formless(x.model)) return false;
  return takes(x, "response_schema");
}

bool can_force(const config::model_config& x) {
  return takes(x, "tool_choice");
}

config::parameters_config overlaid(config::parameters_config x,
                                   const config::parameters_config& over) {
  const auto put = [](auto& to, const auto& from) {
    if (from) to = from;
  };
  const auto put_some = [](auto& to, const auto& from) {
    if (!from.empty()) to = from;
  };
  put(x.temperature, over.temperature);
  put(x.top_p, over.top_p);
  put(x.max_output_tokens, over.max_output_tokens);
  put_some(x.stop, over.stop);
  put(x.seed, over.seed);
  put_some(x.reasoning_effort, over.reasoning_effort);
  put(x.thinking_budget, over.thinking_budget);
  put_some(x.tool_choice, over.tool_choice);
  put(x.parallel_tool_calls, over.parallel_tool_calls);
  put_some(x.keep_alive, over.keep_alive);
  return x;
}

std::string maker_of(const config::model_config& x, const model_link& at) {
  const auto* known = config::provider_of(x);
  const bool own =
      known && !at.redirected && x.base_url == known->settings.base_url;
  // An address may hold a password.
  const auto server = own ? known->name : sha256(at.base).substr(0, 16);
  return x.dialect + " " + server + " " + x.model;
}

model::request_options make_request(
    const config::model_config& x, const config::parameters_config& parameters,
    std::vector<model::tool_description> tools) {
  model::request_options out;
  out.model = x.model;
  out.streaming = x.streaming;
  out.tools = std::move(tools);
  out.temperature = parameters.temperature;
  out.top_p = parameters.top_p;
  if (const auto most = parameters.max_output_tokens)
    out.max_output_tokens = static_cast<std::uint64_t>(*most);
  out.stop = parameters.stop;
  out.seed = parameters.seed;
  out.reasoning_effort = parameters.reasoning_effort;
  if (const auto budget = parameters.thinking_budget)
    out.thinking_budget = static_cast<std::uint64_t>(*budget);
  out.tool_choice = parameters.tool_choice;
  out.parallel_tool_calls = parameters.parallel_tool_calls;
  out.keep_alive = parameters.keep_alive;
  if (x.extra.text != "{}") out.extra = x.extra.text;
  out.context_window = x.context_window;
  // Names that are no additions are not looked for.
  out.left_out = config::quirks_of(x).refuses;
  return out;
}

}  // namespace riffle::service
