// SPDX-License-Identifier: MIT
#include <array>
#include <string_view>

#include <nlohmann/json.hpp>

#include "runtime/node/node.hpp"

namespace riffle {

using nlohmann::json;

namespace {

/// In the order of `approval_choice`.
constexpr std::array<std::string_view, 4> words{"none", "all", "ask", "nobody"};

}  // namespace

std::string to_json(const run_choice& x) {
  json out{{"agent", x.agent},
           {"time_limit_ns", x.time_limit.count()},
           {"approval", words[static_cast<std::size_t>(x.approval)]}};
  if (x.model) out["model"] = *x.model;
  if (!x.context.empty()) out["context"] = x.context;
  if (x.max_steps) out["max_steps"] = *x.max_steps;
  if (!x.folder.empty()) out["folder"] = x.folder;
  if (x.cause) out["cause"] = x.cause->value;
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
  x.folder = from.value("folder", "");
  // Runs of older versions said `approve_all`.
  if (from.value("approve_all", false)) x.approval = approval_choice::all;
  const auto word = from.value("approval", "");
  for (std::size_t i = 0; i < words.size(); ++i)
    if (word == words[i]) x.approval = static_cast<approval_choice>(i);
  if (from.contains("cause"))
    x.cause = proposal_id{from["cause"].get<std::string>()};
  if (from.contains("max_steps"))
    x.max_steps = from["max_steps"].get<std::uint32_t>();
  return x;
}

}  // namespace riffle
