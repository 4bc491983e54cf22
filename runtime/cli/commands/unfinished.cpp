// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/unfinished.hpp"

#include <algorithm>
#include <filesystem>
#include <poll.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/clock.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/commands/cancel_run.hpp"
#include "runtime/cli/commands/known_volley.hpp"
#include "runtime/cli/commands/plan_offer.hpp"
#include "runtime/cli/commands/volley.hpp"
#include "runtime/cli/commands/volley_sessions.hpp"
#include "runtime/cli/commands/watch_plan.hpp"
#include "runtime/cli/terminal/approval_prompt.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/terminal/confirm.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/call_text.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/recap_text.hpp"
#include "runtime/cli/view/run_output.hpp"
#include "runtime/cli/view/session_text.hpp"
#include "runtime/cli/view/trace_writer.hpp"
#include "runtime/service/open_journal.hpp"
#include "runtime/service/run_folder.hpp"
#include "runtime/service/single_call.hpp"
#include "runtime/service/volley_record.hpp"

namespace riffle::cli {

std::optional<storage::run_record> left_behind(
    const std::vector<unfinished_run>& all, const std::string& folder,
    const session_id& session) {
  const auto is_left = [&](const unfinished_run& x) {
    // A step's run is finished by its plan; what a client waited for is over.
    return x.owner == storage::run_owner::gone && folder_of(x.run) == folder &&
           !is_of_plan(x.run) && !service::is_waited_for(x.run.id);
  };
  auto found = std::ranges::find_if(all, [&](const unfinished_run& x) {
    return x.run.session == session && is_left(x);
  });
  if (found == all.end()) found = std::ranges::find_if(all, is_left);
  if (found == all.end()) return std::nullopt;
  return found->run;
}

bool speaks_of(const std::vector<unfinished_run>& all,
               const session_id& session, verbosity level) {
  if (level == verbosity::quiet) return false;
  std::error_code gone;
  const auto here = std::filesystem::current_path(gone).string();
  const auto left = left_behind(all, here, session);
  return left && left->session == session;
}

std::string unfinished_text(const storage::run_record& x, wall_time now,
                            std::size_t tasks) {
  const auto ms = std::max<std::int64_t>(0, now.us - x.started.us) / 1000;
  if (const auto volley = volley_of(x); !volley.empty())
    return "A volley of " + std::to_string(tasks) +
           (tasks == 1 ? " task" : " tasks") +
           " of this folder was not finished: " + safe_line(volley, 64) +
           " (its task \"" + safe_line(x.task, 60) + "\" was begun " +
           short_duration(static_cast<std::uint64_t>(ms)) + " ago).";
  return "A run of this folder was not finished: \"" + safe_line(x.task, 60) +
         "\" (session " + safe_line(short_id(x.session.value), 64) +
         ", begun " + short_duration(static_cast<std::uint64_t>(ms)) + " ago).";
}

namespace {

bool is_plan(const storage::run_record& x) {
  return x.id.value.starts_with("plan_");
}

void add_cut_calls(std::vector<std::string>& names, runtime& rt,
                   const storage::run_record& x) {
  const auto session = rt.session(x.session);
  if (!session) return;
  for (const auto* one : cut_calls(*session, x.id))
    names.push_back(words_of(one->call).on({}));
}

}  // namespace

std::string cut_calls_of(runtime& rt, const storage::run_record& x,
                         const console& io) {
  if (const auto volley = volley_of(x); !volley.empty())
    return cut_calls_of(rt, volley, io);
  std::vector<std::string> names;
  // Of a plan's step a question says it.
  if (!is_plan(x)) add_cut_calls(names, rt, x);
  return cut_calls_text(names, io.err.columns());
}

std::string cut_calls_of(runtime& rt, const std::string& volley,
                         const console& io) {
  std::vector<std::string> names;
  const auto all = rt.unfinished();
  if (!all) return {};
  for (const auto& x : *all)
    if (x.owner == storage::run_owner::gone && volley_of(x.run) == volley)
      add_cut_calls(names, rt, x.run);
  return cut_calls_text(names, io.err.columns());
}

namespace {

/// Its terminal is gone; where a person only typed Ctrl-D it is there.
bool has_hung_up(int keyboard) {
  pollfd x{keyboard, 0, 0};
  return ::poll(&x, 1, 0) > 0 && (x.revents & (POLLHUP | POLLERR)) != 0;
}

/// 0 if its record cannot be read.
std::size_t tasks_of(runtime& rt, const std::string& volley) {
  const auto state = rt.state(session_id{volley});
  if (!state) return 0;
  const auto record = state->find(service::volley_key);
  if (record == state->end() || !record->second.contains("tasks")) return 0;
  return record->second["tasks"].size();
}

/// Of a plan it is said as `plan` says it.
std::string offer_text(runtime& rt, const storage::run_record& left) {
  const auto now = system_wall_time();
  if (is_plan(left))
    if (const auto plan = rt.session(left.session); plan && !plan->runs.empty())
      return interrupted_plan_text(*plan, now, "A plan of this folder");
  const auto volley = volley_of(left);
  return unfinished_text(left, now, volley.empty() ? 0 : tasks_of(rt, volley));
}

/// Its run ends as it is. Not being able to end it keeps no task from its
/// start.
int never_finish(runtime& rt, const storage::run_record& left, console& io) {
  const auto ended = end_run_here(rt, left.id, "it is not to be finished");
  if (!ended) return report(ended.error(), io);
  io.say((is_plan(left) ? "Plan " : "Session ") + short_id(left.session.value) +
         " stays as it is; " + (is_plan(left) ? "it " : "its run ") +
         (*ended == storage::run_state::active
              ? "was asked to end and has not yet"
              : "is " + std::string{to_string(*ended)}) +
         ".\n");
  return completed;
}

/// The same of a volley, and of what of it had not begun.
int never_finish(runtime& rt, const std::string& volley,
                 const config::config& settings, console& io) {
  const auto store = open_volleys(settings, service::journal_use::changes);
  if (!store) return report(store.error(), io);
  const auto now =
      end_volley_here(rt, *store, volley, "it is not to be finished");
  if (!now) return report(now.error(), io);
  const bool one = now->tasks - now->ended == 1;
  const std::string others = one ? "the other " : "the others ";
  io.say("Volley " + volley + " stays as it is: " + std::to_string(now->ended) +
         " of " + counted(now->tasks, "task") + " had ended, " + others +
         (!now->open ? (one ? "is cancelled" : "are cancelled")
          : one      ? "was asked to end and has not yet"
                     : "were asked to end and have not yet") +
         ".\n");
  return completed;
}

struct left_run {
  runtime& rt;
  const storage::run_record& of;
  std::optional<unique_fd> keyboard;
};

int finish_run(left_run left, const next_work& x, interrupts& signals,
               room_wait& room, console& io) {
  resume_options choices{.approval = x.approval};
  if (const auto session = left.rt.session(left.of.session))
    choices.on_error =
        ask_about_cut_step(*session, left.keyboard->get(), signals, io);
  if (signals.asked_to_stop()) return interrupted_by_user;
  const auto resumed = start_with_room(room, signals, [&](auto stop) {
    choices.stop = std::move(stop);
    return left.rt.resume(left.of.id, {}, choices);
  });
  if (room.status()) return *room.status();
  if (!resumed) return report(resumed.error(), io);
  if (x.shows) return x.shows(*resumed);
  return watch_any({left.rt, *resumed, std::move(left.keyboard)}, x.common,
                   x.show, signals, room, io);
}

int finish_volley(left_run left, const std::string& id, const next_work& x,
                  interrupts& signals, room_wait& room, console& io) {
  auto of = with_room(room, [&] {
    return left.rt.resume_volley(id, {.approval = x.approval});
  });
  if (room.status()) return *room.status();
  if (!of) return report(of.error(), io);
  if (x.shows_volley) return x.shows_volley(*of);
  return watch({.rt = left.rt,
                .of = *of,
                .keyboard = std::move(left.keyboard),
                .approves_all = x.approval == approve::all},
               x.common, x.show, signals, io);
}

/// Where the own work begins. `parted`: a blank line stands above already.
void tell_own_work(const next_work& x, bool parted, console& io) {
  if (x.next.empty()) return;
  if (!parted) io.err.write("\n");
  const auto line =
      fit("Now " + x.next, std::max<std::size_t>(io.err.columns(), 2) - 1);
  io.err.write(use_color(x.common, io.err) ? "\x1b[2m" + line + "\x1b[0m\n"
                                           : line + "\n");
}

}  // namespace

int not_begun(console& io) {
  io.say("What you asked for now was not begun.\n");
  return interrupted_by_user;
}

int finish_first(runtime& rt, const next_work& x, interrupts& signals,
                 room_wait& room, console& io) {
  if (x.common.level == verbosity::quiet) return completed;
  std::error_code gone;
  const auto here = std::filesystem::current_path(gone).string();
  const auto all = rt.unfinished();
  auto left = all ? left_behind(*all, here, x.session) : std::nullopt;
  if (!left) left = left_between_runs(x.settings, here);
  if (!left) return completed;
  const auto volley = volley_of(*left);
  const auto what = offer_text(rt, *left);
  auto keyboard = open_keyboard(x.stdin_is_taken);
  const auto by = service::configuration_of(*left).file;
  const bool other = !by.empty() && by != x.settings.file;
  const bool shown =
      x.common.output == output_kind::text && io.out.is_terminal();
  if (!keyboard || !shown || other) {
    io.complain(what + " 'riffle sessions resume " +
                (volley.empty() ? left->session.value : volley) +
                "' finishes it" + (other ? ", by " + safe_line(by, 4096) : ""));
    return completed;
  }
  io.say(what + "\n" + cut_calls_of(rt, *left, io));
  if (x.asked) *x.asked = true;
  const auto given = ask(
      "Finish it first?",
      {{"y", "yes", "[y]es"}, {"n", "no", "[n]o"}, {"v", "never", "ne[v]er"}},
      keyboard->get(), [&] { return signals.asked_to_stop(); }, io, x.typed);
  // Who closed the window wants no new run either.
  if (!given && (signals.asked_to_stop() || has_hung_up(keyboard->get())))
    return interrupted_by_user;
  if (given == 2)
    return volley.empty() ? never_finish(rt, *left, io)
                          : never_finish(rt, volley, x.settings, io);
  if (given != 0) return completed;
  left_run of{rt, *left, std::move(keyboard)};
  const int status =
      volley.empty()
          ? finish_run(std::move(of), x, signals, room, io)
          : finish_volley(std::move(of), volley, x, signals, room, io);
  const bool goes_on = status != interrupted_by_user && !room.status() &&
                       !signals.asked_to_stop();
  // Behind each answer of a volley is one.
  if (goes_on) tell_own_work(x, !volley.empty() && !x.show.stats, io);
  return status;
}

}  // namespace riffle::cli
