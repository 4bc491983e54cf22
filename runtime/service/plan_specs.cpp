// SPDX-License-Identifier: MIT
// Specs of plans: a part of the spec maker.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "messages/utf8.hpp"
#include "runtime/service/agent_tools.hpp"
#include "runtime/service/plan_file.hpp"
#include "runtime/service/sessions.hpp"
#include "runtime/service/spec_maker.hpp"
#include "runtime/service/stopped_plan.hpp"

namespace riffle::service {

namespace {

constexpr const char* plan_op = "plan";
constexpr std::size_t longest_title = 120;

/// What lists of sessions show.
std::string title_of(const core::plan_document& plan) {
  const auto n = plan.steps.size();
  auto text =
      "Plan of " + std::to_string(n) + (n == 1 ? " step: " : " steps: ");
  for (std::size_t i = 0; i < n && text.size() < longest_title; ++i)
    text += (i == 0 ? "" : ", ") + plan.steps[i].id;
  return std::string{first_characters(text, longest_title)};
}

bool asks_agents(const core::plan_document& plan) {
  return std::ranges::any_of(plan.steps, [](const core::planned_step& x) {
    return !x.instruction.empty();
  });
}

expected<std::string> read_output(const kept_output& kept) {
  if (kept.file.empty()) return kept.text;
  std::error_code problem;
  const auto size = std::filesystem::file_size(kept.file, problem);
  if (!problem && size > core::longest_step_text)
    return unexpected{
        error{errc::step_execution_error, plan_op,
              "the output in " + kept.file.string() + " has more than " +
                  std::to_string(core::longest_step_text >> 20) + " MiB"}};
  std::ifstream in{kept.file, std::ios::binary};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  if (in && !problem) return text;
  return unexpected{
      error{errc::storage_unavailable, plan_op,
            "the output in " + kept.file.string() + " cannot be read"}};
}

core::step_policy to_policy(step_failure x) {
  switch (x) {
    case step_failure::go_on: return core::step_policy::go_on;
    case step_failure::retry: return core::step_policy::retry;
    case step_failure::stop: break;
  }
  return core::step_policy::stop;
}

/// What every step's run is started with.
stored_request step_request(const run_id& plan, const stored_request& x) {
  stored_request out{x.request, x.folder, {}};
  out.configuration = x.configuration;
  out.node_timeout = x.node_timeout;
  out.request.timeout = {};
  out.request.session = x.plan_session;
  out.of_plan = plan;
  return out;
}

/// The plan itself has no agent: its calls are those that it names.
void take_tools(run_spec& spec, const core::plan_document& plan) {
  std::set<std::string> names;
  for (const auto& x : plan.steps)
    if (!x.tool.empty()) names.insert(x.tool);
  spec.agent.tools.assign(names.begin(), names.end());
  spec.agent.budget = {};
  spec.agent.completion = "free";
}

}  // namespace

/// What a server has is known when it is there.
void spec_maker::start_servers_of(const plan_request& x) const {
  if (!parts_.servers) return;
  const auto root =
      nlohmann::json::parse(plan_text(x.plan, x.name), nullptr, false);
  if (!root.is_object()) return;
  std::set<std::string> names;
  for (const auto& step : root.value("steps", nlohmann::json::array()))
    if (step.is_object() && step.value("tool", nlohmann::json()).is_string())
      names.insert(step.at("tool").get<std::string>());
  static_cast<void>(expand_tools(*config_, parts_.servers.get(),
                                 {names.begin(), names.end()}, x.with.stop,
                                 x.with.timeout));
}

expected<std::string> spec_maker::read_plan_text(const plan_request& x) const {
  start_servers_of(x);
  auto read = read_plan(x.plan, x.name, *parts_.tools->now());
  // Who was stopped has not waited for the servers that it names.
  if (!read.problems.empty() && x.with.stop.stop_requested())
    return unexpected{error{errc::cancelled, plan_op, "the plan was stopped"}};
  if (!read.problems.empty()) return unexpected{invalid_plan(read.problems)};
  return std::move(read.text);
}

expected<std::shared_ptr<const plan_work>> spec_maker::plan_work_of(
    const run_id& id, const stored_request& x) {
  if (!x.hurried) start_servers_of({x.plan, "plan", x.request});
  auto read = read_plan(x.plan, "plan", *parts_.tools->now());
  if (x.hurried && !read.problems.empty()) {  // what its tools are is not known
    start_servers_of({x.plan, "plan", x.request});
    read = read_plan(x.plan, "plan", *parts_.tools->now());
  }
  if (!read.problems.empty()) return unexpected{invalid_plan(read.problems)};
  auto work = std::make_shared<plan_work>();
  work->document = std::move(read.document);
  auto& steps = work->document.steps;
  auto open = x.open_step;
  if (!x.goes_on_from.empty() && open == 0) {
    const bool behind_it = x.on_error == step_failure::go_on;
    auto kept =
        steps_of_stopped(*parts_.journal, x.goes_on_from, steps, behind_it);
    if (!kept) return unexpected{std::move(kept.error())};
    work->kept = std::move(*kept);
    open = static_cast<std::uint32_t>(work->kept.size() + 1);
  }
  if (x.on_error && open > 0 && open <= steps.size())
    steps[open - 1].on_error = to_policy(*x.on_error);
  work->text = x.plan;
  auto without = x;
  without.plan.clear();
  work->settings = to_json(without);
  work->make_step = [me = shared_from_this(), request = step_request(id, x)](
                        const run_id& run, const std::string& task) {
    return me->make(run, *request.request.session, task, request);
  };
  work->output = [all = sessions{parts_.journal, parts_.outputs}](
                     const call_id& call) -> expected<std::string> {
    const auto kept = all.output(call);
    if (!kept) return unexpected{kept.error()};
    return read_output(*kept);
  };
  return std::shared_ptr<const plan_work>{std::move(work)};
}

expected<run_spec_ptr> spec_maker::make_plan(run_id id,
                                             const stored_request& x) {
  const auto began = std::chrono::steady_clock::now();
  auto work = plan_work_of(id, x);
  if (!work) return unexpected{std::move(work.error())};
  const auto& plan = (*work)->document;
  auto spec = std::make_shared<run_spec>();
  spec->run = std::move(id);
  spec->session = session_id{spec->run.value};
  spec->task = title_of(plan);
  if (auto ok = describe(*spec, x); !ok)
    return unexpected{std::move(ok.error())};
  if (plan.require_streaming && !spec->model.streaming)
    return unexpected{error{errc::agent_not_streaming, plan_op,
                            "the plan requires streaming, and models." +
                                spec->agent.model + ".streaming is false"}};
  // What no step could begin without is told before the first one does.
  if (asks_agents(plan) && !x.hurried)
    if (auto step = (*work)->make_step(spec->run, "a step"); !step)
      return unexpected{std::move(step.error())};
  take_tools(*spec, plan);
  if (x.hurried) leave_out_servers(*config_, spec->agent.tools);
  spec->registry = x.hurried
                       ? parts_.tools->now()
                       : tools_for(spec->agent.tools, x.request, spec->waited);
  spec->spent = std::chrono::steady_clock::now() - began;
  if (auto ok = check_guard(*spec->registry, "the plan", spec->agent); !ok)
    return unexpected{std::move(ok.error())};
  if (spec->time_limit == duration{}) spec->time_limit = plan.timeout;
  spec->plan = std::move(*work);
  share(*spec);
  return run_spec_ptr{std::move(spec)};
}

/// The plan, if it is not with the request any more.
expected<void> spec_maker::find_plan(const storage::run_record& record,
                                     stored_request& x) const {
  if (!x.plan.empty()) return {};
  const auto session = parts_.journal->load_session(record.session);
  if (!session) return unexpected{session.error()};
  for (const auto& m : session->messages)
    if (m.run == record.id && m.step == 0 &&
        m.role == storage::message_role::user)
      x.plan = m.text;
  return {};
}

expected<run_spec_ptr> spec_maker::remake(const storage::run_record& record,
                                          stored_request x) {
  if (x.plan_session.empty())
    return make(record.id, record.session, record.task, x);
  if (auto ok = find_plan(record, x); !ok)
    return unexpected{std::move(ok.error())};
  x.open_step = record.step;
  return make_plan(record.id, x);
}

expected<run_spec_ptr> spec_maker::make_next(const storage::run_record& stopped,
                                             stored_request x) {
  if (!is_stopped_plan(stopped))
    return unexpected{error{errc::invalid_request, plan_op,
                            stopped.id.value + " is no plan that was stopped"}};
  if (auto ok = find_plan(stopped, x); !ok)
    return unexpected{std::move(ok.error())};
  x.goes_on_from = stopped.id;
  x.configuration = configuration();
  return make_plan(next_plan(stopped.id), x);
}

}  // namespace riffle::service
