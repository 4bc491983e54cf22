// SPDX-License-Identifier: MIT
// riffle sessions resume ID
#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/find_session.hpp"
#include "runtime/cli/commands/plan_offer.hpp"
#include "runtime/cli/commands/proposal_folder.hpp"
#include "runtime/cli/commands/requests.hpp"
#include "runtime/cli/commands/run_configuration.hpp"
#include "runtime/cli/commands/unfinished.hpp"
#include "runtime/cli/commands/volley.hpp"
#include "runtime/cli/commands/watch_plan.hpp"
#include "runtime/cli/terminal/approval_prompt.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/service/run_folder.hpp"
#include "runtime/service/stopped_plan.hpp"
#include "runtime/service/stored_request.hpp"

namespace riffle::cli {

namespace {

/// What can go on: an active run, or a plan that was stopped.
const storage::run_record* unfinished(const storage::session_snapshot& x) {
  const auto found = std::ranges::find_if(x.runs, [](const auto& run) {
    return run.state == storage::run_state::active ||
           service::is_stopped_plan(run);
  });
  return found == x.runs.end() ? nullptr : &*found;
}

error no_session(const std::string& name) {
  const bool plan = name.starts_with("plan_");
  return {errc::not_found,
          "sessions",
          std::string{"there is no "} + (plan ? "plan" : "session") + " \"" +
              name + "\"; 'riffle sessions list' shows all",
          false,
          {}};
}

/// Exit status as of a plan that ends: who resumes until it is 0 must not take
/// a plan that failed for a good one.
int nothing_to_do(const storage::session_snapshot& x, console& io,
                  const common_options& options) {
  const auto& last = x.runs.back();
  const bool loud = options.level != verbosity::quiet;
  const bool plan = last.id.value.starts_with("plan_");
  if (plan && last.state == storage::run_state::failed) {
    if (loud)
      io.complain(
          "plan " + last.id.value +
          " has failed, and a plan that has failed does not go on; 'riffle "
          "sessions show " +
          x.session.value +
          "' tells its steps, 'riffle plan FILE' begins it anew");
    return failed;
  }
  if (loud)
    io.complain("nothing is unfinished in session " + x.session.value +
                "; its last run is " + std::string{to_string(last.state)} +
                ". 'riffle sessions show " + x.session.value +
                "' prints the conversation");
  return completed;
}

/// Its tools would work on other files here.
std::optional<error> elsewhere(const storage::run_record& run,
                               const session_id& session) {
  const auto folder = folder_of(run);
  std::string why;
  switch (service::find_folder(folder)) {
    case service::folder_state::here: return std::nullopt;
    case service::folder_state::elsewhere:
      why = "; finish it there: " + go_there(folder) +
            "riffle sessions resume " + session.value;
      break;
    case service::folder_state::gone:
      why =
          ", and that folder is not there any more: make it again, or end the "
          "run by 'riffle sessions cancel " +
          session.value + "'";
      break;
  }
  return error{
      errc::invalid_request, "sessions",
      "the run was started in " + folder + ", where its tools work" + why};
}

/// What is chosen for a plan alone is for no other work.
std::optional<error> misplaced(const resume_command& x, const std::string& id) {
  if (!x.choices.on_error || id.starts_with("plan_")) return std::nullopt;
  return error{
      errc::invalid_request, "sessions",
      "--on-error is about the steps of a plan, and " + id + " is none"};
}

/// Its tasks that have not ended go on, with their own choices unless others
/// are made here.
int resume_volley(runtime& rt, const resume_command& x, interrupts& signals,
                  room_wait& room, console& io) {
  auto choices = x.choices;
  auto keyboard = keyboard_for(choices, false);
  if (!choices.approval && keyboard) choices.approval = approve::ask;
  if (x.common.level != verbosity::quiet)
    io.say(cut_calls_of(rt, x.session, io));
  auto of =
      with_room(room, [&] { return rt.resume_volley(x.session, choices); });
  if (room.status()) return *room.status();
  if (!of) return report(of.error(), io);
  return watch({.rt = rt,
                .of = *of,
                .keyboard = std::move(keyboard),
                .approves_all = choices.approval == approve::all},
               x.common, x.show, signals, io);
}

/// Loads the one that the unfinished run was begun by, if it is another. The
/// exit status, if that cannot be.
std::optional<int> go_by_its_configuration(
    resume_command& x, std::optional<config::config>& settings, console& io) {
  const auto of = configuration_of_unfinished(*settings, x.session);
  if (!of) return report(of.error(), io);
  const auto taken = take_configuration(x.common, *of, "session " + x.session);
  if (!taken) return report(taken.error(), io);
  if (!*taken) return std::nullopt;
  tell_configuration(x.common, io);
  settings = load_config(x.common, config_use::acts, false, io);
  if (!settings) return usage;
  choose_log_level(x.common.level, *settings);
  return std::nullopt;
}

/// It executed what was approved, and nobody knows what came of that.
bool is_cut_execution(runtime& rt, const storage::run_record& x) {
  if (!service::request_from_json(x.settings).cause) return false;
  const auto now = rt.session(x.session);
  return now && std::ranges::any_of(now->calls, [&](const auto& call) {
           return call.run == x.id && call.how == outcome::interrupted;
         });
}

/// Nobody said what becomes of the step that was cut.
int not_gone_on(const run_id& plan, console& io) {
  io.complain(
      "plan " + plan.value +
      " was stopped within a step of which nobody knows how far it came, and "
      "stays as it is; look at what it did, then 'riffle sessions resume " +
      plan.value +
      " --on-error retry' runs that step again, '--on-error continue' goes on "
      "behind it");
  return interrupted_by_user;
}

/// The run that goes on, or the plan that does from this one, seen until it
/// ends again.
int finish(runtime& rt, const storage::session_snapshot& of, resume_command x,
           const storage::run_record& left, interrupts& signals,
           room_wait& room, console& io) {
  if (x.common.level != verbosity::quiet) io.say(cut_calls_of(rt, left, io));
  auto keyboard = open_keyboard(false);
  if (keyboard && !x.choices.on_error && x.common.level != verbosity::quiet)
    x.choices.on_error = ask_about_cut_step(of, keyboard->get(), signals, io);
  if (signals.asked_to_stop()) return interrupted_by_user;
  const auto policy = x.choices.on_error.value_or(step_failure::stop);
  if (service::is_stopped_plan(left) && policy == step_failure::stop &&
      cut_step_of(of))
    return not_gone_on(left.id, io);
  if (keyboard && !x.choices.approval) x.choices.approval = approve::ask;
  const auto resumed = start_with_room(room, signals, [&](auto stop) {
    x.choices.stop = std::move(stop);
    return service::is_stopped_plan(left)
               ? rt.go_on_from(left.id, {}, x.choices)
               : rt.resume(left.id, {}, x.choices);
  });
  if (room.status()) return *room.status();
  if (!resumed && !service::is_stopped_plan(left)) {
    // Another process may have finished it while its end was waited for.
    const auto now = rt.session(session_id{x.session});
    return now && !unfinished(*now) ? nothing_to_do(*now, io, x.common)
                                    : report(resumed.error(), io);
  }
  if (!resumed) {
    // So may another have gone on from it.
    const auto next = rt.session(session_id{service::next_plan(left.id).value});
    return next && !unfinished(*next) ? nothing_to_do(*next, io, x.common)
                                      : report(resumed.error(), io);
  }
  if (service::is_stopped_plan(left) && x.common.level != verbosity::quiet)
    io.complain("plan " + left.id.value +
                " was stopped; it goes on as a new one, with what its steps "
                "did so far");
  const int status =
      watch_any({.rt = rt,
                 .of = *resumed,
                 .keyboard = std::move(keyboard),
                 .approves_all = x.choices.approval == approve::all},
                x.common, x.show, signals, room, io);
  return status == completed && is_cut_execution(rt, left) ? failed : status;
}

}  // namespace

int execute(const resume_command& given, console& io) {
  auto x = given;
  auto settings = load_config(x.common, config_use::acts, false, io);
  if (!settings) return usage;
  choose_log_level(x.common.level, *settings);
  interrupts signals;
  room_wait room{x.choices.timeout, signals, io};
  room.finish_with("riffle sessions resume " + x.session);
  const auto named =
      with_room(room, [&] { return session_to_finish(*settings, x.session); });
  if (room.status()) return *room.status();
  if (!named && named.error().code != errc::not_found)
    return report(named.error(), io);
  if (named) x.session = named->value;
  if (const auto status = go_by_its_configuration(x, settings, io))
    return *status;
  const auto known = choose_model(x.choices.model, *settings);
  if (!known) return report(known.error(), io);
  auto rt = with_room(
      room, [&] { return runtime::create(*settings, {.owns_process = true}); });
  if (room.status()) return *room.status();
  if (!rt) return report(rt.error(), io);
  if (x.session.starts_with("volley_"))
    return misplaced(x, x.session) ? report(*misplaced(x, x.session), io)
                                   : resume_volley(*rt, x, signals, room, io);
  const auto session = rt->session(session_id{x.session});
  if (!session && session.error().code == errc::not_found)
    return report(no_session(x.session), io);
  if (!session) return report(session.error(), io);
  const auto* left = unfinished(*session);
  if (!left) return nothing_to_do(*session, io, x.common);
  for (const auto& why :
       {elsewhere(*left, session->session), misplaced(x, left->id.value)})
    if (why) return report(*why, io);
  return finish(*rt, *session, std::move(x), *left, signals, room, io);
}

}  // namespace riffle::cli
