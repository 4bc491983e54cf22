// SPDX-License-Identifier: MIT
// Reads a plan and finds all that is wrong with it.
#include <algorithm>
#include <initializer_list>
#include <unordered_map>
#include <utility>

#include <nlohmann/json.hpp>

#include "actors/core/plan_document.hpp"
#include "actors/core/plan_references.hpp"
#include "messages/duration_text.hpp"

namespace riffle::core {

using nlohmann::json;

namespace {

using keys = std::initializer_list<const char*>;

class reader {
 public:
  reader(const json& root, const tool_check& check)
      : root_{root}, check_{check} {}

  read_plan read();

 private:
  /// A file of some MiB could hold a million.
  void complain(std::string pointer, std::string text) {
    constexpr std::size_t most = 1'000;
    if (out_.mistakes.size() == most)
      out_.mistakes.push_back({"", "has more mistakes: mend these first"});
    if (out_.mistakes.size() < most)
      out_.mistakes.push_back({std::move(pointer), std::move(text)});
  }
  void check_keys(const json& object, const std::string& at, const keys& known);
  const json* member(const json& object, const char* key) const;
  void read_text(const json& object, const std::string& at, const char* key,
                 std::string& to);
  void read_duration(const json& object, const std::string& at, duration& to);
  void read_step(const json& from, const std::string& at);
  void read_id(const json& from, const std::string& at, planned_step& step);
  void read_policy(const json& from, const std::string& at, planned_step& step);
  void read_action(const json& from, const std::string& at, planned_step& step);
  void read_arguments(const json& from, const std::string& at,
                      planned_step& step);
  void link(std::size_t place);
  void link_dependencies(std::size_t place);
  void check_reference(std::size_t place, const std::string& at,
                       const std::string& id, const char* what);
  void check_texts(std::size_t place, const json& value, const std::string& at);
  void refer(std::size_t place, const std::string& at, const std::string& id);
  void check_tool(std::size_t place);
  void find_cycles();
  [[nodiscard]] std::string cycle_text(
      const std::vector<std::size_t>& steps) const;

  const json& root_;
  const tool_check& check_;
  read_plan out_;
  bool refers_ = true;  ///< texts may hold `{{steps.ID.output}}`
  std::unordered_map<std::string, std::size_t> places_;  ///< by id
  /// What each step names in `depends_on`, as far as there are such steps.
  std::vector<std::vector<std::size_t>> named_;
};

std::string step_at(std::size_t place) {
  return "/steps/" + std::to_string(place);
}

const json* reader::member(const json& object, const char* key) const {
  const auto i = object.find(key);
  return i == object.end() ? nullptr : &*i;
}

void reader::check_keys(const json& object, const std::string& at,
                        const keys& known) {
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    std::string allowed;
    for (const auto* x : known)
      allowed += (allowed.empty() ? "" : ", ") + std::string{x};
    complain(at + "/" + key, "unknown key; there are: " + allowed);
  }
}

void reader::read_text(const json& object, const std::string& at,
                       const char* key, std::string& to) {
  const auto* x = member(object, key);
  if (x == nullptr) return;
  if (x->is_string())
    to = x->get<std::string>();
  else
    complain(at + "/" + key, "must be a text");
}

void reader::read_duration(const json& object, const std::string& at,
                           duration& to) {
  const auto* x = member(object, "timeout");
  if (x == nullptr) return;
  const auto length = x->is_string()
                          ? parse_duration(x->get_ref<const std::string&>())
                          : std::nullopt;
  if (length && *length >= duration{})
    to = *length;
  else
    complain(at + "/timeout",
             "must be a length of time such as \"30s\" or \"5m\"");
}

read_plan reader::read() {
  if (!root_.is_object()) {
    complain("", "a plan is a table with a list of steps");
    return std::move(out_);
  }
  check_keys(root_, "",
             {"steps", "timeout", "require_streaming", "references"});
  read_duration(root_, "", out_.plan.timeout);
  if (const auto* x = member(root_, "require_streaming")) {
    if (x->is_boolean())
      out_.plan.require_streaming = x->get<bool>();
    else
      complain("/require_streaming", "must be true or false");
  }
  if (const auto* x = member(root_, "references")) {
    if (x->is_boolean())
      refers_ = x->get<bool>();
    else
      complain("/references", "must be true or false");
  }
  const auto* steps = member(root_, "steps");
  if (steps == nullptr || (steps->is_array() && steps->empty())) {
    complain("/steps", "the plan has no steps");
  } else if (!steps->is_array()) {
    complain("/steps", "must be a list of steps");
  } else if (steps->size() > most_plan_steps) {
    complain("/steps", "has " + std::to_string(steps->size()) +
                           " steps; a plan may have " +
                           std::to_string(most_plan_steps));
  } else {
    for (const auto& x : *steps) read_step(x, step_at(out_.plan.steps.size()));
    for (std::size_t i = 0; i < out_.plan.steps.size(); ++i) link(i);
    find_cycles();
  }
  return std::move(out_);
}

void reader::read_step(const json& from, const std::string& at) {
  auto& step = out_.plan.steps.emplace_back();
  if (!from.is_object()) return complain(at, "a step must be a table");
  check_keys(from, at,
             {"id", "instruction", "tool", "arguments", "depends_on",
              "on_error", "timeout"});
  read_id(from, at, step);
  read_action(from, at, step);
  read_policy(from, at, step);
  read_duration(from, at, step.timeout);
}

void reader::read_id(const json& from, const std::string& at,
                     planned_step& step) {
  const auto place = out_.plan.steps.size() - 1;
  step.id = std::to_string(place + 1);
  const bool given = member(from, "id") != nullptr;
  if (given) read_text(from, at, "id", step.id);
  if (!is_step_id(step.id))
    complain(at + "/id",
             "must be letters, digits, \"_\" and \"-\", at most 64");
  const auto [known, fresh] = places_.emplace(step.id, place);
  if (!fresh)
    complain(given ? at + "/id" : at,
             "step " + std::to_string(known->second + 1) + " has the id \"" +
                 step.id + "\" already");
}

void reader::read_action(const json& from, const std::string& at,
                         planned_step& step) {
  read_text(from, at, "instruction", step.instruction);
  read_text(from, at, "tool", step.tool);
  const bool speaks = member(from, "instruction") != nullptr;
  const bool calls = member(from, "tool") != nullptr;
  const bool blank =
      step.instruction.find_first_not_of(" \t\r\n") == std::string::npos;
  if (speaks && calls)
    complain(at, "has an instruction and a tool; a step is one of both");
  else if (!speaks && !calls)
    complain(at, "needs an instruction or a tool");
  else if (speaks && blank && from["instruction"].is_string())
    complain(at + "/instruction", "is empty");
  else if (calls && step.tool.empty() && from["tool"].is_string())
    complain(at + "/tool", "is empty");
  read_arguments(from, at, step);
}

void reader::read_arguments(const json& from, const std::string& at,
                            planned_step& step) {
  const auto* x = member(from, "arguments");
  if (x == nullptr) return;
  if (!x->is_object())
    complain(at + "/arguments", "must be a table");
  else if (member(from, "tool") == nullptr)
    complain(at + "/arguments", "are for a tool, and the step names none");
  else
    step.arguments = x->dump(-1, ' ', false, json::error_handler_t::replace);
}

void reader::read_policy(const json& from, const std::string& at,
                         planned_step& step) {
  const auto* x = member(from, "on_error");
  if (x == nullptr) return;
  for (const auto policy :
       {step_policy::stop, step_policy::go_on, step_policy::retry})
    if (*x == to_string(policy)) {
      step.on_error = policy;
      return;
    }
  complain(at + "/on_error", "must be \"stop\", \"continue\" or \"retry\"");
}

// -- what steps say of each other ---------------------------------------------

void reader::check_reference(std::size_t place, const std::string& at,
                             const std::string& id, const char* what) {
  const auto found = places_.find(id);
  const std::string whom = std::string{what} + " step \"" + id + "\"";
  if (found == places_.end())
    complain(at, whom + ", and there is none");
  else if (found->second == place)
    complain(at, whom + ", which is this very step");
  else if (found->second > place)
    complain(at, whom + ", which comes later; steps run in their order");
}

void reader::link_dependencies(std::size_t place) {
  auto& named = named_.emplace_back();
  const auto& from = root_["steps"][place];
  const auto* list = from.is_object() ? member(from, "depends_on") : nullptr;
  if (list == nullptr) return;
  const auto at = step_at(place) + "/depends_on";
  if (!list->is_array()) return complain(at, "must be a list of ids");
  auto& step = out_.plan.steps[place];
  for (std::size_t i = 0; i < list->size(); ++i) {
    const auto& x = (*list)[i];
    const auto here = at + "/" + std::to_string(i);
    if (!x.is_string()) {
      complain(here, "must be the id of a step");
      continue;
    }
    const auto& id = x.get_ref<const std::string&>();
    check_reference(place, here, id, "depends on");
    const auto found = places_.find(id);
    if (found == places_.end()) continue;
    named.push_back(found->second);
    if (found->second < place) step.depends_on.push_back(found->second);
  }
}

void reader::check_texts(std::size_t place, const json& value,
                         const std::string& at) {
  if (value.is_object()) {
    for (const auto& [key, x] : value.items())
      check_texts(place, x, at + "/" + key);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      check_texts(place, value[i], at + "/" + std::to_string(i));
  } else if (value.is_string()) {
    for (const auto& x : find_references(value.get_ref<const std::string&>()))
      if (!x.problem.empty())
        complain(at, x.problem);
      else
        refer(place, at, x.id);
  }
}

void reader::refer(std::size_t place, const std::string& at,
                   const std::string& id) {
  check_reference(place, at, id, "refers to");
  const auto found = places_.find(id);
  if (found == places_.end() || found->second >= place) return;
  auto& all = out_.plan.steps[place].refers_to;
  if (std::ranges::find(all, found->second) == all.end())
    all.push_back(found->second);
}

void reader::link(std::size_t place) {
  link_dependencies(place);
  const auto& step = out_.plan.steps[place];
  const auto& from = root_["steps"][place];
  for (const char* key : {"instruction", "arguments"})
    if (const auto* x =
            from.is_object() && refers_ ? member(from, key) : nullptr)
      check_texts(place, *x, step_at(place) + "/" + key);
  if (!step.tool.empty()) check_tool(place);
}

void reader::check_tool(std::size_t place) {
  const auto& step = out_.plan.steps[place];
  const auto unknown = check_(step.tool, nullptr);
  if (!unknown.empty()) return complain(step_at(place) + "/tool", unknown);
  // With references nobody can tell before they are filled in.
  if (!step.refers_to.empty()) return;
  auto wrong = check_(step.tool, &step.arguments);
  if (!wrong.empty()) complain(step_at(place) + "/arguments", std::move(wrong));
}

/// `steps`: in the order of the cycle. Of a long one its two ends.
std::string reader::cycle_text(const std::vector<std::size_t>& steps) const {
  constexpr std::size_t at_an_end = 5;
  const auto& all = out_.plan.steps;
  std::string text = "the steps depend on each other in a cycle: ";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i >= at_an_end && i + at_an_end < steps.size()) {
      text +=
          "… (" + std::to_string(steps.size() - 2 * at_an_end) + " more) → ";
      i = steps.size() - at_an_end;
    }
    text += "\"" + all[steps[i]].id + "\" → ";
  }
  return text + "\"" + all[steps.front()].id + "\"";
}

/// A cycle is told as one, beside the step in it that comes too late, and of
/// those of one step the first. Walks from each step along the first way that
/// leads to a later one and back.
void reader::find_cycles() {
  enum class mark : std::uint8_t { fresh, open, done };
  constexpr std::size_t most_told = 100;
  std::vector<mark> marks(named_.size(), mark::fresh);
  std::size_t told = 0;
  struct visit {
    std::size_t step;
    std::size_t next = 0;
    bool told = false;
  };
  for (std::size_t start = 0; start < named_.size(); ++start) {
    if (marks[start] != mark::fresh) continue;
    std::vector<visit> path{{start}};
    marks[start] = mark::open;
    while (!path.empty()) {
      auto& top = path.back();
      if (top.next == named_[top.step].size()) {
        marks[top.step] = mark::done;
        path.pop_back();
        continue;
      }
      const auto to = named_[top.step][top.next++];
      if (marks[to] == mark::fresh) {
        marks[to] = mark::open;
        path.push_back({to});
      } else if (marks[to] == mark::open && to != top.step && !top.told &&
                 told < most_told) {
        top.told = true;
        ++told;
        std::vector<std::size_t> cycle;
        for (auto i = std::ranges::find(path, to, &visit::step);
             i != path.end(); ++i)
          cycle.push_back(i->step);
        complain(step_at(top.step) + "/depends_on", cycle_text(cycle));
      }
    }
  }
}

}  // namespace

read_plan read_plan_document(const json& root, const tool_check& check) {
  return reader{root, check}.read();
}

}  // namespace riffle::core
