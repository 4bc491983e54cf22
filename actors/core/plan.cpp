// SPDX-License-Identifier: MIT
#include "actors/core/plan.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

#include "messages/runtime_note.hpp"
#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"

namespace riffle::core {

const std::string_view plan_schema =
    R"({"type":"object","properties":{"action":{"type":"string","enum":["create","add","update","complete","list"]},"steps":{"type":"array","items":{"type":"string"},"description":"For create and add: titles of the steps, in order."},"id":{"type":"integer","minimum":1,"description":"For update and complete: the step's id. For add: the step behind which the new ones go; without it they go to the end."},"title":{"type":"string","description":"For update: its new title."},"status":{"type":"string","enum":["pending","in_progress","done","dropped"],"description":"For update: its new status."}},"required":["action"],"additionalProperties":false})";

namespace {

using nlohmann::json;

struct plan_step {
  std::uint64_t id = 0;
  std::string title;
  std::string status;
};

using steps = std::vector<plan_step>;

unexpected refused(std::string why) {
  return unexpected{
      error{errc::invalid_arguments, "manage_plan", std::move(why)}};
}

steps read(std::string_view stored) {
  steps out;
  const auto plan = json::parse(stored, nullptr, false);
  if (!plan.is_array()) return out;
  for (const auto& x : plan) {
    if (!x.is_object()) continue;
    out.push_back({x.value("id", std::uint64_t{out.size() + 1}),
                   x.value("title", ""), x.value("status", "pending")});
  }
  return out;
}

std::string write(const steps& plan) {
  auto out = json::array();
  for (const auto& x : plan)
    out.push_back({{"id", x.id}, {"title", x.title}, {"status", x.status}});
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string render(const steps& plan) {
  std::string text;
  for (const auto& x : plan)
    text += std::to_string(x.id) + ". [" + x.status + "] " + x.title + "\n";
  return text.empty() ? "There is no plan." : text;
}

std::string known_ids(const steps& plan) {
  if (plan.empty()) return "there is no plan yet; `create` makes one";
  std::string ids;
  for (const auto& x : plan)
    ids += (ids.empty() ? "" : ", ") + std::to_string(x.id);
  return "the plan has the steps " + ids;
}

/// One line, without blanks around it.
std::string tidy(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '\r', ' ');
  return std::string{trimmed(text, " \t")};
}

std::optional<std::string> bad_title(std::string_view title) {
  if (title.empty()) return "a step needs a title; say what is to be done";
  if (count_characters(title) > max_plan_title)
    return "a title has at most " + std::to_string(max_plan_title) +
           " characters; say it shorter, or make several steps of it";
  return {};
}

std::optional<std::string> add_steps(const json& arguments, steps& plan,
                                     std::size_t at) {
  const auto titles = arguments.find("steps");
  if (titles == arguments.end() || titles->empty())
    return "this action needs `steps`, a list of titles that is not empty";
  if (plan.size() + titles->size() > max_plan_steps)
    return "a plan has at most " + std::to_string(max_plan_steps) +
           " steps and this one would have " +
           std::to_string(plan.size() + titles->size()) +
           "; make fewer and larger ones";
  std::uint64_t last = 0;
  for (const auto& x : plan) last = std::max(last, x.id);
  steps fresh;
  for (const auto& x : *titles) {
    auto title = tidy(x.get<std::string>());
    if (auto why = bad_title(title)) return why;
    fresh.push_back({++last, std::move(title), "pending"});
  }
  plan.insert(plan.begin() + static_cast<std::ptrdiff_t>(at), fresh.begin(),
              fresh.end());
  return {};
}

std::optional<std::string> change_step(const json& arguments, plan_step& step) {
  const auto title = arguments.find("title");
  const auto status = arguments.find("status");
  if (title == arguments.end() && status == arguments.end())
    return "`update` needs a new `title` or a new `status`";
  if (title != arguments.end()) {
    auto text = tidy(title->get<std::string>());
    if (auto why = bad_title(text)) return why;
    step.title = std::move(text);
  }
  if (status != arguments.end()) step.status = status->get<std::string>();
  return {};
}

/// Why it was not done.
std::optional<std::string> apply(const std::string& action,
                                 const json& arguments, steps& plan) {
  if (action == "create") {
    plan.clear();
    return add_steps(arguments, plan, 0);
  }
  const auto id = arguments.value("id", std::uint64_t{0});
  const auto step = std::ranges::find(plan, id, &plan_step::id);
  if (action == "add" && !arguments.contains("id"))
    return add_steps(arguments, plan, plan.size());
  if (id == 0) return "`" + action + "` needs `id`; " + known_ids(plan);
  if (step == plan.end())
    return "there is no step " + std::to_string(id) + "; " + known_ids(plan);
  if (action == "add")
    return add_steps(arguments, plan,
                     static_cast<std::size_t>(step - plan.begin()) + 1);
  if (action == "update") return change_step(arguments, *step);
  step->status = "done";
  return {};
}

}  // namespace

expected<plan_edit> edit_plan(std::string_view arguments,
                              std::string_view stored) {
  const auto what = json::parse(arguments, nullptr, false);
  if (!what.is_object()) return refused("the arguments are no JSON object");
  try {
    plan_edit out;
    out.action = what.at("action").get<std::string>();
    auto plan = read(stored);
    if (out.action != "list") {
      if (auto why = apply(out.action, what, plan))
        return refused("manage_plan: " + *why);
      out.plan = write(plan);
    }
    out.text = render(plan);
    return out;
  } catch (const json::exception& e) {
    return refused(std::string{"manage_plan: "} + e.what());
  }
}

std::string plan_note(std::string_view stored) {
  const auto plan = read(stored);
  if (plan.empty()) return {};
  const auto open = std::ranges::count_if(plan, [](const auto& x) {
    return x.status != "done" && x.status != "dropped";
  });
  std::string text{runtime_note};
  text += "The plan of this session now, " +
          (open == 0 ? "with no step open" : std::to_string(open) + " open") +
          " (`manage_plan` changes it):\n" + render(plan);
  return text;
}

}  // namespace riffle::core
