// SPDX-License-Identifier: MIT
#include "runtime/service/spec_maker.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <random>
#include <utility>

#include "actors/core/termination_policy.hpp"
#include "actors/tools/call_check.hpp"
#include "runtime/base/digest.hpp"
#include "runtime/base/read_within.hpp"
#include "runtime/config/home.hpp"
#include "runtime/service/agent_tools.hpp"
#include "runtime/service/attachments.hpp"
#include "runtime/service/file_changes.hpp"
#include "runtime/service/proposals.hpp"
#include "runtime/service/run_folder.hpp"
#include "runtime/service/told_before.hpp"
#include "tools/process/guard.hpp"

namespace riffle::service {

namespace {

constexpr const char* runtime_op = "runtime";

expected<std::string> read_prompt(const std::filesystem::path& file) {
  auto text = read_within(file);
  if (!text)
    return unexpected{
        error{errc::invalid_config, runtime_op,
              "the system prompt " + file.string() + " " + text.error()}};
  return std::move(*text);
}

}  // namespace

/// Without its call in `main`, a guard would be the whole program once more.
expected<void> check_guard(const tools::registry& registry,
                           const std::string& name,
                           const config::agent_config& agent) {
  if (tools::can_be_guard()) return {};
  for (const auto& tool : agent.tools) {
    const auto* found = registry.find(tool);
    if (found == nullptr || !(*found)->spec().guarded) continue;
    return unexpected{error{
        errc::invalid_config, runtime_op,
        "agents." + name + ".tools: `" + tool +
            "` starts programs under a guard, which is this program started "
            "once more: call riffle::worker_main(argc, argv) first in main, or "
            "leave the tool out"}};
  }
  return {};
}

namespace {

void set_approvals(run_spec& spec, const config::approvals_config& settings,
                   approve choice) {
  spec.approval = choice;
  spec.approved_by = choice == approve::all ? "--approve all" : "policy";
  spec.propose = settings.mode == "propose";
  spec.expire_after = settings.expire_after;
}

std::function<double()> make_random() {
  auto engine = std::make_shared<std::mt19937_64>(std::random_device{}());
  return [engine] { return std::uniform_real_distribution<double>{}(*engine); };
}

/// What a person who looks at the session reads as its task.
std::string cause_task(const storage::proposal_state& x) {
  return "Proposal " + x.what.id.value + " (" + x.what.title +
         ") was approved by " + x.decided->by + ". It is executed now.";
}

/// As the configuration says it: 0 is none.
std::uint32_t limit_of(std::uint32_t configured) {
  return configured == 0 ? no_limit : configured;
}

}  // namespace

spec_maker::spec_maker(std::shared_ptr<const config::config> config, parts x)
    : config_{std::move(config)},
      parts_{std::move(x)},
      capacity_{std::make_shared<capacity_board>()},
      links_{{config_, parts_.clock, parts_.waits, parts_.scripts, parts_.lent,
              parts_.around_listeners, capacity_}} {}

std::string spec_maker::model_of(const run_request& x) const {
  auto name = x.model.value_or(std::string{});
  const auto agent = config_->agents.find(x.agent);
  if (!x.model && agent != config_->agents.end()) name = agent->second.model;
  if (const auto model = config::find_model(*config_, name))
    capacity_->expect(name, std::min(limit_of(model->max_concurrent),
                                     limit_of(model->requests_per_minute)));
  return name;
}

/// When a run begins, not when it was asked for: a task of a volley or a step
/// of a plan may name a session that somebody else has begun meanwhile.
expected<void> spec_maker::check_owner(const session_id& session,
                                       const request_origin& who) const {
  if (!who.own) return {};
  storage::run_filter of;
  of.session = session;
  of.ordinal = 1;
  const auto first = parts_.journal->list_runs(of);
  if (!first) return unexpected{first.error()};
  if (first->empty() || origin_of(first->front()).by == who.by) return {};
  return unexpected{error{errc::not_found, runtime_op,
                          "there is no session \"" + session.value + "\""}};
}

namespace {

/// A run's own limit (0: it has none) bounds that, too.
duration first_wait(const stored_request& x) {
  const auto limit = x.request.timeout;
  return limit == duration{} ? x.start_timeout
                             : std::min(x.start_timeout, limit);
}

}  // namespace

expected<run_spec_ptr> spec_maker::make(run_id run, session_id session,
                                        std::string task,
                                        const stored_request& x) {
  auto spec = std::make_shared<run_spec>();
  spec->run = std::move(run);
  spec->session = std::move(session);
  spec->task = std::move(task);
  auto stored = x;
  const auto began = std::chrono::steady_clock::now();
  stored.hurried =
      x.hurried &&
      (waits_for_nodes(x.request.agent) ||
       waits_for_servers(x.request.agent, first_wait(x), x.request.stop));
  spec->spent = std::chrono::steady_clock::now() - began;
  if (auto ok = check_owner(spec->session, x.request.origin); !ok)
    return unexpected{std::move(ok.error())};
  if (x.request.session)
    tell_taken_back(*parts_.journal, spec->session, stored.request);
  if (auto ok = load_files(*spec, stored); !ok)
    return unexpected{std::move(ok.error())};
  if (auto ok = describe(*spec, stored); !ok)
    return unexpected{std::move(ok.error())};
  if (auto ok = find_cause(*spec, x); !ok)
    return unexpected{std::move(ok.error())};
  share(*spec);
  if (auto ok = choose_form(*spec); !ok)
    return unexpected{std::move(ok.error())};
  const auto& stop = x.request.stop;
  if (auto ok = connect(*spec, stop).and_then([&] {
        return add_fallback(*spec, stop);
      });
      !ok)
    return unexpected{std::move(ok.error())};
  if (spec->cause) spec->caused_call = call_of_cause(*spec);
  if (stored.hurried) spec->complete = completion_of(*spec);
  return run_spec_ptr{std::move(spec)};
}

/// From what is on record, as who takes it up after a crash.
std::function<expected<run_spec_ptr>(const std::stop_token&)>
spec_maker::completion_of(const run_spec& spec) {
  return [me = shared_from_this(), run = spec.run, session = spec.session,
          task = spec.task,
          settings = spec.settings](const std::stop_token& stop) {
    auto x = request_from_json(settings);
    x.request.stop = stop;
    return me->make(run, session, task, x);
  };
}

void spec_maker::share(run_spec& spec) const {
  spec.looks = parts_.looks;
  spec.nodes = parts_.nodes;
  spec.journal = parts_.journal;
  spec.ids = parts_.ids;
  spec.random01 = make_random();
  spec.faults = parts_.faults;
}

/// Once: what a run has been started with is on record.
expected<void> spec_maker::load_files(run_spec& spec, stored_request& x) const {
  auto told = std::exchange(x.request.surroundings, {});
  if (!told.empty() &&
      !keep_what_was_told(*parts_.journal, spec.session, told, x)) {
    x.surroundings = sha256(told);
    spec.files.push_back(
        {spec.session, x.surroundings,
         std::make_shared<const std::string>(std::move(told))});
  }
  if (!x.attachments.empty() || x.request.attachments.empty()) return {};
  auto loaded = load_attachments(x.request.attachments, config_->attachments);
  if (!loaded) return unexpected{std::move(loaded.error())};
  for (auto& one : *loaded) {
    spec.files.push_back(
        {spec.session, one.about.digest, std::move(one.bytes)});
    x.attachments.push_back(std::move(one.about));
  }
  x.request.attachments.clear();
  return {};
}

namespace {

expected<void> check_phase(const std::string& name) {
  const auto why = name.empty() ? std::string{} : core::phase_problem(name);
  if (why.empty()) return {};
  return unexpected{error{errc::invalid_request, runtime_op,
                          "the name of the phase (--phase) " + why}};
}

expected<void> read_prompt_file(const config::config& from,
                                config::agent_config& agent) {
  if (agent.system_prompt_file.empty()) return {};
  auto prompt =
      config::named_path(from, agent.system_prompt_file).and_then(read_prompt);
  if (!prompt) return unexpected{std::move(prompt.error())};
  agent.system_prompt = std::move(*prompt);
  return {};
}

expected<void> set_workspace(run_spec& spec, const std::filesystem::path& x) {
  if (x.empty()) return {};
  std::error_code ignored;
  if (!std::filesystem::is_directory(x, ignored))
    return unexpected{error{errc::invalid_request, runtime_op,
                            "the workspace " + x.string() +
                                " is no folder: make it, then try again"}};
  spec.workspace = x;
  work_in(spec.tool_settings, x);
  return {};
}

void take_wishes(run_spec& spec, const run_request& asked) {
  spec.context = asked.context;
  spec.phase = asked.phase;
  if (asked.max_steps) spec.agent.max_steps = *asked.max_steps;
  if (!asked.response_schema.empty())
    spec.agent.response_schema.text = asked.response_schema;
}

}  // namespace

/// Those that the agent names, and what is waited for.
void spec_maker::find_tools(run_spec& spec, const stored_request& x) const {
  const auto& asked = x.request;
  // A plan itself has the tools that it names (see `make_plan`): the servers of
  // its agent are started for its tasks alone.
  spec.agent.tools = x.plan.empty() ? tools_of_agent(*config_, asked.agent)
                                    : std::vector<std::string>{};
  const auto began = std::chrono::steady_clock::now();
  if (x.hurried) {
    spec.waited = wait_for_servers(asked.agent);
    leave_out_servers(*config_, spec.agent.tools);
    if (const auto nodes = wait_for_nodes(spec.agent.tools); !nodes.empty())
      spec.waited += (spec.waited.empty() ? "" : "; ") + nodes;
    spec.registry = parts_.tools->now();
  } else {
    spec.registry = tools_for(spec.agent.tools, asked, spec.waited);
  }
  spec.spent += std::chrono::steady_clock::now() - began;
}

/// What the configuration and the request say.
expected<void> spec_maker::describe(run_spec& spec,
                                    const stored_request& x) const {
  const auto& asked = x.request;
  const auto agent = config_->agents.find(asked.agent);
  if (agent == config_->agents.end())
    return unexpected{
        error{errc::not_found, runtime_op,
              "there is no agent `" + asked.agent + "` in the configuration"}};
  const auto model_name = asked.model.value_or(agent->second.model);
  auto model = config::find_model(*config_, model_name);
  if (!model)
    return unexpected{error{errc::not_found, runtime_op,
                            config::unknown_model(*config_, model_name)}};
  spec.agent_name = asked.agent;
  spec.agent = agent->second;
  find_tools(spec, x);
  if (auto ok = check_guard(*spec.registry, asked.agent, spec.agent); !ok)
    return ok;
  spec.agent.model = model_name;
  if (auto ok = check_phase(asked.phase); !ok) return ok;
  take_wishes(spec, asked);
  if (auto ok = read_prompt_file(*config_, spec.agent); !ok) return ok;
  spec.agent.system_prompt +=
      advice_of_servers(*config_, parts_.servers.get(), spec.agent.tools);
  spec.surroundings = x.surroundings;
  spec.model = *std::move(model);
  spec.file_types = shown_types(spec.model);
  spec.file_limits = config_->attachments;
  spec.attachments = x.attachments;
  // Of a run that is resumed with another model, the model is told in words.
  if (!spec.files.empty())
    if (auto ok = check_shown(x.attachments, spec.file_types, model_name); !ok)
      return ok;
  spec.publish = config_->publish;
  spec.tool_settings = config_->tools;
  if (auto ok = set_workspace(spec, asked.workspace); !ok) return ok;
  keep_folders(spec.tool_settings);
  spec.retry_base = config_->supervision.backoff_base;
  set_approvals(spec, config_->approvals, asked.approval);
  spec.time_limit = asked.timeout;
  spec.folder = x.folder;
  spec.within_plan = !x.of_plan.empty();
  spec.settings = to_json(x);
  return {};
}

run_configuration spec_maker::configuration() const {
  return {config_->file.string(), config_->digest};
}

stored_request spec_maker::begun_here(run_request x,
                                      std::optional<task_place> place) const {
  stored_request out{std::move(x), working_folder(), {}, std::move(place)};
  out.configuration = configuration();
  if (config_->cluster.used()) out.node_timeout = node_timeout(*config_);
  return out;
}

expected<void> spec_maker::find_cause(run_spec& spec,
                                      const stored_request& x) const {
  if (!x.cause) return {};
  auto found = find_proposal(*parts_.journal, *x.cause);
  if (!found) return unexpected{std::move(found.error())};
  if (!*found || !(*found)->decided)
    return unexpected{error{errc::not_found, runtime_op,
                            "there is no approved proposal " + x.cause->value}};
  spec.cause = std::move(*found);
  return {};
}

expected<run_spec_ptr> spec_maker::make_for(
    const storage::proposal_state& cause) {
  auto made_by = parts_.journal->load_run(cause.what.run);
  if (!made_by) return unexpected{std::move(made_by.error())};
  auto x = request_from_json(made_by->settings);
  if (auto ok = check_folder(x.folder, "proposal " + cause.what.id.value); !ok)
    return unexpected{std::move(ok.error())};
  x.cause = cause.what.id;
  x.request.phase.clear();  // the session may have left it
  x.plan_session = {};      // it is a run like any, also if a plan proposed it
  x.plan.clear();
  x.attachments.clear();  // the session has shown them
  return make(ids().next<run_id>(), cause.what.session, cause_task(cause), x);
}

}  // namespace riffle::service
