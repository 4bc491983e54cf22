// SPDX-License-Identifier: MIT
// riffle run TASK
#include <utility>

#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/find_session.hpp"
#include "runtime/cli/commands/unfinished.hpp"
#include "runtime/cli/commands/watch.hpp"
#include "runtime/cli/terminal/approval_prompt.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/terminal/read_text.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/limits_text.hpp"
#include "runtime/cli/view/run_output.hpp"

namespace riffle::cli {

namespace {

/// The task and what is told beside it; may read standard input.
expected<run_request> request_for(const run_command& x) {
  auto task =
      x.task == "-" ? read_stdin("task") : expected<std::string>{x.task};
  if (!task) return unexpected{std::move(task.error())};
  auto out = request_of(x, std::move(*task));
  if (x.context_file) {
    auto context = read_file(*x.context_file, "context");
    if (!context) return unexpected{std::move(context.error())};
    out.context = std::move(*context);
  }
  if (x.schema_file) {
    auto schema = read_file(*x.schema_file, "schema");
    if (!schema) return unexpected{std::move(schema.error())};
    out.response_schema = std::move(*schema);
  }
  return out;
}

/// Who can be asked about calls, if anybody is to be.
std::optional<unique_fd> keyboard_for(const run_command& x) {
  if (x.choices.approval.value_or(approve::ask) != approve::ask)
    return std::nullopt;
  return open_keyboard(x.task == "-");
}

/// For a person only, where the screen has just shown what came of it.
void tell_way_on(const common_options& options, console& io) {
  const bool person = options.output == output_kind::text &&
                      options.level != verbosity::quiet && io.err.is_terminal();
  if (!person) return;
  const std::string text = "Go on: riffle run -c \"…\", or riffle -c";
  io.err.write(use_color(options, io.err) ? "\x1b[2m" + text + "\x1b[0m\n"
                                          : text + "\n");
}

}  // namespace

int execute(const run_command& x, console& io) {
  auto settings = load_config(x.common, config_use::acts, x.task == "-", io);
  if (!settings) return usage;
  for (const auto& known : {check_agent(x.agent, *settings),
                            choose_model(x.choices.model, *settings)}) {
    if (!known) return report(known.error(), io);
  }
  auto request = request_for(x);
  if (!request) return report(request.error(), io);
  if (auto ok = check_attachments(*request, *settings); !ok)
    return report(ok.error(), io);
  auto keyboard = keyboard_for(x);
  // What is proposed waits for nobody, so it can be asked for everywhere.
  const bool proposes = settings->approvals.mode == "propose";
  if (!x.choices.approval && (keyboard || proposes))
    request->approval = approve::ask;

  if (x.common.level == verbosity::verbose)
    io.err.write(limits_text(*settings, x.agent, x.choices));
  choose_log_level(x.common.level, *settings);
  interrupts signals;
  room_wait room{x.choices.timeout, signals, io};
  auto session = with_room(
      room, [&] { return session_for_task(*settings, x.session, x.goes_on); });
  if (room.status()) return *room.status();
  if (!session) return report(session.error(), io);
  request->session = std::move(*session);
  auto rt = with_room(
      room, [&] { return runtime::create(*settings, {.owns_process = true}); });
  if (room.status()) return *room.status();
  if (!rt) return report(rt.error(), io);
  const auto first = finish_first(*rt, x, signals, room, io);
  if (room.status()) return *room.status();
  if (first == interrupted_by_user || signals.asked_to_stop())
    return interrupted_by_user;
  room.finish_with({});
  const auto started = with_room(room, [&] { return rt->start(*request); });
  if (room.status()) return *room.status();
  if (!started) return report(started.error(), io);
  const int status = watch({*rt, *started, std::move(keyboard)}, x.common,
                           x.show, signals, room, io);
  tell_way_on(x.common, io);
  return status;
}

}  // namespace riffle::cli
