// SPDX-License-Identifier: MIT
// riffle run TASK
#include <utility>

#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/requests.hpp"
#include "runtime/cli/commands/unfinished.hpp"
#include "runtime/cli/commands/watch.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/terminal/read_text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/limits_text.hpp"
#include "runtime/cli/view/run_output.hpp"

namespace riffle::cli {

namespace {

/// The task and what is told beside it; may read standard input.
expected<run_request> request_for(const run_command& x, console& io) {
  auto task =
      x.task == "-" ? read_stdin("task") : expected<std::string>{x.task};
  if (!task) return unexpected{std::move(task.error())};
  auto out = said_with(x, std::move(*task));
  if (!out) return out;
  const auto given = given_input(x, io);
  if (!given) return unexpected{given.error()};
  add_to_context(out->context, *given);
  return out;
}

/// For a person only.
void tell(const std::string& text, const common_options& options, console& io) {
  const bool person = options.output == output_kind::text &&
                      options.level != verbosity::quiet && io.err.is_terminal();
  if (!person) return;
  io.err.write(use_color(options, io.err) ? "\x1b[2m" + text + "\x1b[0m\n"
                                          : text + "\n");
}

next_work work_of(const run_command& x, const config::config& settings,
                  const std::string& task) {
  return {.common = x.common,
          .show = x.show,
          .settings = settings,
          .stdin_is_taken = takes_stdin(x),
          .next = "your task: " + safe_line(task, 200)};
}

}  // namespace

int execute(const run_command& x, console& io) {
  const bool stdin_is_taken = takes_stdin(x);
  auto settings = load_config(x.common, config_use::acts, stdin_is_taken, io);
  if (!settings) return usage;
  // Before standard input is read.
  if (const auto known = check_named(x.agent, x.choices.model, *settings);
      !known)
    return report(known.error(), io);
  auto request = request_for(x, io);
  if (!request) return report(request.error(), io);
  auto keyboard = keyboard_for(x.choices, stdin_is_taken);
  request->approval = approval_for(x.choices, *settings, keyboard.has_value());
  choose_log_level(x.common.level, *settings);
  interrupts signals;
  room_wait room{x.choices.timeout, signals, io};
  request_maker maker{*settings};
  const auto made = with_room(room, [&] {
    return maker.complete(*request, x.session, x.agent, x.goes_on);
  });
  if (room.status()) return *room.status();
  if (!made) return report(made.error(), io);
  tell_gone(maker, x.common, io);
  if (x.common.level == verbosity::verbose)
    io.err.write(wrap_lines(limits_text(*settings, request->agent, x.choices),
                            io.err.is_terminal() ? io.err.columns() : 0));
  request->surroundings = maker.surroundings(request->agent);
  auto rt = with_room(
      room, [&] { return runtime::create(*settings, {.owns_process = true}); });
  if (room.status()) return *room.status();
  if (!rt) return report(rt.error(), io);
  const auto first = finish_first(*rt, work_of(x, *settings, request->task),
                                  signals, room, io);
  if (room.status()) return *room.status();
  if (first == interrupted_by_user || signals.asked_to_stop())
    return not_begun(io);
  room.finish_with({});
  const auto started = start_with_room(room, signals, [&](auto stop) {
    request->stop = std::move(stop);
    return rt->start(*request);
  });
  if (room.status()) return *room.status();
  if (!started) return not_started(started.error(), *settings, io);
  const int status = watch({*rt, *started, std::move(keyboard)}, x.common,
                           x.show, signals, room, io);
  // The screen has just shown what came of it.
  tell("Go on: riffle run -c \"TASK\", or riffle -c", x.common, io);
  return status;
}

}  // namespace riffle::cli
