// SPDX-License-Identifier: MIT
// riffle plan FILE, riffle plan check FILE
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/plan_offer.hpp"
#include "runtime/cli/commands/requests.hpp"
#include "runtime/cli/commands/watch_plan.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/terminal/read_text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/limits_text.hpp"
#include "runtime/config/mcp_checks.hpp"
#include "runtime/node/node.hpp"
#include "runtime/service/plan_file.hpp"

namespace riffle::cli {

namespace {

using json = nlohmann::ordered_json;

expected<std::string> text_of(const plan_command& x) {
  return x.file == "-" ? read_stdin("plan") : read_file(x.file, "plan");
}

std::string name_of(const plan_command& x) {
  return x.file == "-" ? "plan" : x.file;
}

/// What the configuration says against it.
void check_streaming(const plan_command& x, const config::config& settings,
                     service::checked_plan& plan) {
  if (!plan.document.require_streaming) return;
  const auto& agent = x.agent.value_or(run_request{}.agent);
  const auto& name = x.choices.model.value_or(settings.agents.at(agent).model);
  const auto model = config::find_model(settings, name);
  if (!model || model->streaming) return;
  plan.problems.push_back(
      {name_of(x), "require_streaming",
       "models." + name + ".streaming is false (agent_not_streaming)"});
}

json problem_json(const service::plan_problem& x) {
  return {{"place", x.place}, {"key", x.key}, {"text", x.text}};
}

int tell(const plan_command& x, const service::checked_plan& plan,
         console& io) {
  const bool ok = plan.problems.empty();
  const auto dump = [](const json& one) {
    return one.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  };
  switch (x.common.output) {
    case output_kind::text:
      for (const auto& one : plan.problems)
        io.err.write(safe_text(render(one)) + "\n");
      if (ok && x.common.level != verbosity::quiet)
        io.out.write(
            "ok: " + std::to_string(plan.document.steps.size()) +
            (plan.document.steps.size() == 1 ? " step\n" : " steps\n"));
      break;
    case output_kind::json: {
      json out = {{"ok", ok}, {"steps", plan.document.steps.size()}};
      out["problems"] = json::array();
      for (const auto& one : plan.problems)
        out["problems"].push_back(problem_json(one));
      io.out.write(dump(out));
      break;
    }
    case output_kind::jsonl:
      for (const auto& one : plan.problems)
        io.out.write(dump(problem_json(one)));
      break;
  }
  return ok ? completed : usage;
}

int check(const plan_command& x, const std::string& text,
          const config::config& settings, console& io) {
  const auto tools = make_registry(settings, {});
  if (!tools) return report(tools.error(), io);
  // Nothing is started for it, so what servers have is not known.
  auto plan = service::read_plan(
      text, name_of(x), **tools, [&](const std::string& tool) {
        return config::server_of(settings, tool).has_value();
      });
  check_streaming(x, settings, plan);
  return tell(x, plan, io);
}

plan_request request_of(const plan_command& x, std::string text) {
  plan_request out{std::move(text), name_of(x), {}};
  auto& with = out.with;
  if (x.agent) with.agent = *x.agent;
  with.model = x.choices.model;
  with.context = x.context;
  with.max_steps = x.choices.max_steps;
  with.timeout = x.choices.timeout;
  return out;
}

}  // namespace

int execute(const plan_command& x, console& io) {
  const bool from_stdin = x.file == "-";
  auto settings =
      load_config(x.common, x.check_only ? config_use::looks : config_use::acts,
                  from_stdin, io);
  if (!settings) return usage;
  if (const auto known = check_named(x.agent, x.choices.model, *settings);
      !known)
    return report(known.error(), io);
  auto text = text_of(x);
  if (!text) return report(text.error(), io);
  if (x.check_only) return check(x, *text, *settings, io);
  auto request = request_of(x, std::move(*text));
  auto keyboard = keyboard_for(x.choices, from_stdin);
  request.with.approval =
      approval_for(x.choices, *settings, keyboard.has_value());
  choose_log_level(x.common.level, *settings);
  interrupts signals;
  room_wait room{x.choices.timeout, signals, io};
  request_maker maker{*settings};
  const auto made = with_room(
      room, [&] { return maker.complete(request.with, x.session, x.agent); });
  if (room.status()) return *room.status();
  if (!made) return report(made.error(), io);
  const auto& agent = request.with.agent;
  tell_gone(maker, x.common, io);
  if (x.common.level == verbosity::verbose)
    io.err.write(wrap_lines(limits_text(*settings, agent, x.choices),
                            io.err.is_terminal() ? io.err.columns() : 0));
  request.with.surroundings = maker.surroundings(agent);
  auto rt = with_room(
      room, [&] { return runtime::create(*settings, {.owns_process = true}); });
  if (room.status()) return *room.status();
  if (!rt) return report(rt.error(), io);
  if (signals.asked_to_stop()) return interrupted_by_user;
  if (const auto done =
          go_on_with_plan(*rt, x, request.plan, signals, room, io))
    return *done;
  const auto started = start_with_room(room, signals, [&](auto stop) {
    request.with.stop = std::move(stop);
    return rt->start_plan(request);
  });
  if (room.status()) return *room.status();
  if (!started) return not_started(started.error(), *settings, io);
  return watch_plan({.rt = *rt,
                     .of = *started,
                     .keyboard = std::move(keyboard),
                     .approves_all = request.with.approval == approve::all},
                    x.common, x.show, signals, room, io);
}

}  // namespace riffle::cli
