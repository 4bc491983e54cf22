// SPDX-License-Identifier: MIT
#include "runtime/service/model_request.hpp"

#include <utility>

namespace riffle::service {

std::shared_ptr<const model::dialect> make_dialect(
    const config::model_config&) {
  return model::make_openai_dialect();
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
  return x;
}

model::request_options make_request(
    const config::model_config& x, const config::parameters_config& parameters,
    std::vector<model::tool_description> tools) {
  model::request_options out;
  out.model = x.model;
  out.streaming = x.streaming;
  out.tools = std::move(tools);
  out.temperature = parameters.temperature;
  return out;
}

}  // namespace riffle::service
