// SPDX-License-Identifier: MIT
#include "actors/run/asked_models.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace riffle {

using nlohmann::ordered_json;

std::vector<std::string> sent_parameters(const model::request_options& x) {
  std::vector<std::string> out;
  const auto add = [&](const char* name, bool set) {
    if (set) out.emplace_back(name);
  };
  add("temperature", x.temperature.has_value());
  add("top_p", x.top_p.has_value());
  add("max_output_tokens", x.max_output_tokens.has_value());
  add("stop", !x.stop.empty());
  add("seed", x.seed.has_value());
  add("reasoning_effort", !x.reasoning_effort.empty());
  add("thinking_budget", x.thinking_budget.has_value());
  add("tool_choice", !x.tool_choice.empty());
  add("parallel_tool_calls", x.parallel_tool_calls.has_value());
  add("keep_alive", !x.keep_alive.empty());
  add("response_schema", !x.response_schema.empty());
  const auto extra = ordered_json::parse(x.extra, nullptr, false);
  if (extra.is_object())
    for (const auto& [name, ignored] : extra.items()) out.push_back(name);
  return out;
}

std::vector<std::string> sent_parameters(const model::request_options& x,
                                         const model::dialect& dialect) {
  auto out = sent_parameters(x);
  for (auto& name : dialect.additions(x)) out.push_back(std::move(name));
  return out;
}

model::request_options without_parameter(model::request_options x,
                                         const std::string& name) {
  if (name == "temperature") x.temperature.reset();
  if (name == "top_p") x.top_p.reset();
  if (name == "max_output_tokens") x.max_output_tokens.reset();
  if (name == "stop") x.stop.clear();
  if (name == "seed") x.seed.reset();
  if (name == "reasoning_effort") x.reasoning_effort.clear();
  if (name == "thinking_budget") x.thinking_budget.reset();
  if (name == "tool_choice") x.tool_choice.clear();
  if (name == "parallel_tool_calls") x.parallel_tool_calls.reset();
  if (name == "keep_alive") x.keep_alive.clear();
  if (name == "response_schema") x.response_schema.clear();
  if (core::is_added(name)) x.left_out.push_back(name);
  auto extra = ordered_json::parse(x.extra, nullptr, false);
  if (extra.is_object() && extra.erase(name) > 0)
    x.extra = extra.empty() ? "" : extra.dump();
  return x;
}

namespace {

bool has_tool(const model::request_options& x, const std::string& name) {
  return std::ranges::any_of(
      x.tools, [&](const auto& tool) { return tool.name == name; });
}

}  // namespace

model::request_options completing_request(const run_spec& spec,
                                          model::request_options x,
                                          bool forces) {
  const auto& name = spec.completing->name;
  if (!has_tool(x, name)) x.tools.push_back(*spec.completing);
  x.response_schema.clear();
  if (forces) {
    x.tool_choice = name;
    x.thinking_budget.reset();  // who thinks first cannot be made to call
  } else {
    x.tool_choice.clear();
    std::erase_if(x.tools, [&](const auto& tool) { return tool.name != name; });
  }
  return x;
}

namespace {

/// ", and does not see a.pdf"
std::string unseen_by(const run_spec& spec) {
  std::string names;
  for (const auto& x : spec.attachments)
    if (std::ranges::find(spec.file_types, x.type) == spec.file_types.end())
      names += (names.empty() ? "" : ", ") + x.name;
  return names.empty() ? names : ", and does not see " + names;
}

}  // namespace

asked_models::asked_models(const run_spec_ptr& main) {
  const auto add = [this](const run_spec_ptr& spec) {
    all_.push_back(
        {spec, spec->request,
         conversation{{spec->dialect, spec->request, spec->model.context_window,
                       spec->maker, spec->file_types,
                       spec->file_limits.max_total_bytes}},
         spec->can_force});
  };
  add(main);
  for (const auto& other : main->fallback) add(other);
}

void asked_models::say_system(const std::string& text) {
  for (auto& x : all_) x.chat.say_system(text);
}

void asked_models::say_summary(const std::string& text) {
  for (auto& x : all_) x.chat.say_summary(text);
}

void asked_models::begin_task() {
  for (auto& x : all_) x.chat.begin_task();
}

void asked_models::say_user(const std::string& text, const shown_files& files) {
  for (auto& x : all_) x.chat.say_user(text, files);
}

void asked_models::say_model(const core::new_message& message) {
  for (auto& x : all_) x.chat.say_model(message);
}

void asked_models::settle(storage::call_record call, const shown_files& files) {
  for (std::size_t i = 0; i + 1 < all_.size(); ++i)
    all_[i].chat.settle(call, files);
  all_.back().chat.settle(std::move(call), files);
}

core::made_room asked_models::compact() {
  core::made_room removed;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const auto count = all_[i].chat.compact();
    if (i == asked_) removed = count;
  }
  return removed;
}

void asked_models::ask_to_complete(bool alone) {
  if (!spec()->completing || std::exchange(completing_, alone) == alone) return;
  for (auto& x : all_) x.chat.ask_with(options_of(x));
}

model::request_options asked_models::options_of(const candidate& x) const {
  return completing_ ? completing_request(*x.spec, x.request, x.forces)
                     : x.request;
}

std::optional<std::string> asked_models::try_again(const error& why) {
  const auto next = core::plan_second_try(
      why, sent_parameters(options_of(now()), *spec()->dialect), before_,
      next_with_room().has_value());
  switch (next.how) {
    case core::second_try::with_less: return make_room();
    case core::second_try::without_parameter:
      return leave_out(next.parameter, why);
    case core::second_try::other_model: return ask_next(why);
    case core::second_try::none: break;
  }
  // What asks later begins with the first choice again.
  if (core::is_out_of_service(why)) asked_ = 0;
  return std::nullopt;
}

std::optional<std::string> asked_models::make_room() {
  before_.made_room = true;
  const auto removed = now().chat.make_room();
  if (!removed) return std::nullopt;
  return core::asked_anew + spec()->agent.model +
         " says that the conversation is too long: made room, " +
         core::room_text(removed);
}

std::optional<std::string> asked_models::leave_out(const std::string& parameter,
                                                   const error& why) {
  auto& x = now();
  const bool form = parameter == "response_schema" && x.spec->completing;
  const bool force = parameter == "tool_choice" && completing_;
  const bool ours = core::is_added(parameter) || form || force;
  before_.left_out = before_.left_out || !ours;
  x.request = without_parameter(x.request, parameter);
  if (parameter == "tool_choice") x.forces = false;
  const auto& tool = x.spec->completing;
  if (form && !has_tool(x.request, tool->name))
    x.request.tools.push_back(*tool);
  x.chat.ask_with(options_of(x));
  if (x.spec->on_refused) x.spec->on_refused(parameter);
  return core::asked_anew + x.spec->agent.model + " does not take " +
         parameter + " (" + why.message + "): asked without it from now on";
}

std::optional<std::size_t> asked_models::next_with_room() const {
  for (auto i = asked_ + 1; i < all_.size(); ++i) {
    const auto window = all_[i].spec->model.context_window;
    if (window == 0 || all_[i].chat.estimate({}) <= window) return i;
  }
  return std::nullopt;
}

std::string asked_models::ask_next(const error& why) {
  const auto failed = spec()->agent.model;
  asked_ = next_with_room().value_or(asked_);
  before_ = {};
  return core::asked_anew + failed + " does not answer (" + why.message +
         "): " + spec()->agent.model + " is asked instead" + unseen_by(*spec());
}

}  // namespace riffle
