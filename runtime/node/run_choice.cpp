// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>

#include "runtime/node/node.hpp"

namespace riffle {

using nlohmann::json;

std::string to_json(const run_choice& x) {
  json out{{"agent", x.agent},
           {"time_limit_ns", x.time_limit.count()},
           {"approve_all", x.approve_all}};
  if (x.model) out["model"] = *x.model;
  if (!x.context.empty()) out["context"] = x.context;
  if (x.max_steps) out["max_steps"] = *x.max_steps;
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

run_choice choice_from_json(const std::string& text) {
  run_choice x;
  const auto from = json::parse(text, nullptr, false);
  if (!from.is_object()) return x;
  x.agent = from.value("agent", x.agent);
  x.time_limit = duration{from.value("time_limit_ns", std::int64_t{0})};
  if (from.contains("model")) x.model = from["model"].get<std::string>();
  x.context = from.value("context", "");
  x.approve_all = from.value("approve_all", false);
  if (from.contains("max_steps"))
    x.max_steps = from["max_steps"].get<std::uint32_t>();
  return x;
}

}  // namespace riffle
