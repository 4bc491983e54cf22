// SPDX-License-Identifier: MIT
#include "actors/core/plan_document.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "actors/core/plan_references.hpp"
#include "messages/enum_text.hpp"

namespace riffle::core {

using nlohmann::json;

namespace {

constexpr text_table<3> policies = {"stop", "continue", "retry"};
static_assert(covers(policies, step_policy::retry));

using filled = tl::expected<std::string, std::string>;

/// What the texts of a step are filled in with.
struct source {
  const plan_document& plan;
  const planned_step& step;
  const step_outputs& outputs;

  [[nodiscard]] const std::string* find(const std::string& id) const {
    for (const auto place : step.refers_to)
      if (plan.steps[place].id == id) return &outputs(place);
    return nullptr;
  }
};

filled fill_in(const std::string& text, const source& from, std::size_t room) {
  std::string out;
  std::size_t told = 0;
  const auto add = [&](std::string_view piece) {
    const bool fits = piece.size() <= room - std::min(room, out.size());
    if (fits) out += piece;
    return fits;
  };
  bool fits = true;
  for (const auto& x : find_references(text)) {
    const auto* output = from.find(x.id);
    if (output == nullptr) continue;
    fits = fits && add(std::string_view{text}.substr(told, x.begin - told)) &&
           add(*output);
    told = x.end;
  }
  fits = fits && add(std::string_view{text}.substr(told));
  if (fits) return out;
  return tl::unexpected{"with the outputs that it refers to it has more than " +
                        std::to_string(longest_step_text >> 20) + " MiB"};
}

filled fill_in_all(json& value, const source& from, std::size_t& room) {
  if (value.is_string()) {
    auto text = fill_in(value.get_ref<const std::string&>(), from, room);
    if (!text) return text;
    room -= std::min(room, text->size());
    value = std::move(*text);
  } else if (value.is_structured()) {
    for (auto& x : value)
      if (auto done = fill_in_all(x, from, room); !done) return done;
  }
  return {};
}

}  // namespace

std::string_view to_string(step_policy x) noexcept {
  return text_of(policies, x);
}

filled fill_in_instruction(const plan_document& plan, std::size_t step,
                           const step_outputs& outputs) {
  const auto& mine = plan.steps[step];
  return fill_in(mine.instruction, {plan, mine, outputs}, longest_step_text);
}

filled fill_in_arguments(const plan_document& plan, std::size_t step,
                         const step_outputs& outputs) {
  auto value = json::parse(plan.steps[step].arguments, nullptr, false);
  auto room = longest_step_text;
  const source from{plan, plan.steps[step], outputs};
  if (auto done = fill_in_all(value, from, room); !done)
    return tl::unexpected{std::move(done.error())};
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace riffle::core
