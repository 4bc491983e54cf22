// SPDX-License-Identifier: MIT
// riffle run TASK
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/find_session.hpp"
#include "runtime/cli/commands/init.hpp"
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

bool is_stdin(const std::optional<std::filesystem::path>& file) {
  return file && *file == "-";
}

/// Whether standard input is no keyboard here.
bool takes_stdin(const run_command& x) {
  return x.task == "-" || is_stdin(x.context_file) ||
         (x.reads_stdin && stdin_is_given());
}

/// What came through a pipe, for the model; a person is told that it goes
/// there.
expected<void> add_given_input(const run_command& x, run_request& to,
                               console& io) {
  if (!x.reads_stdin || x.task == "-" || is_stdin(x.context_file)) return {};
  bool silent = false;
  auto given = read_given_stdin(silent);
  if (!given) return unexpected{std::move(given.error())};
  const bool told = x.common.output == output_kind::text &&
                    x.common.level != verbosity::quiet;
  if (silent && told)
    io.err.write(
        "Standard input said nothing for 2 s and is not waited for "
        "(--no-stdin does not wait).\n");
  if (trimmed(*given).empty()) return {};
  if (told)
    io.err.write(
        "Standard input goes to the model: " + size_text(given->size()) + "\n");
  to.context += (to.context.empty() ? "" : "\n\n") +
                std::string{"What came on standard input:\n"} + *given;
  return {};
}

/// The task and what is told beside it; may read standard input.
expected<run_request> request_for(const run_command& x, console& io) {
  auto task =
      x.task == "-" ? read_stdin("task") : expected<std::string>{x.task};
  if (!task) return unexpected{std::move(task.error())};
  auto out = request_of(x, std::move(*task));
  if (x.context_file) {
    auto context = is_stdin(x.context_file)
                       ? read_stdin("context")
                       : read_file(*x.context_file, "context");
    if (!context) return unexpected{std::move(context.error())};
    out.context = std::move(*context);
  }
  if (x.schema_file) {
    auto schema = read_file(*x.schema_file, "schema");
    if (!schema) return unexpected{std::move(schema.error())};
    out.response_schema = std::move(*schema);
  }
  if (auto ok = add_given_input(x, out, io); !ok)
    return unexpected{std::move(ok.error())};
  return out;
}

/// Who can be asked about calls, if anybody is to be.
std::optional<unique_fd> keyboard_for(const run_command& x) {
  if (x.choices.approval.value_or(approve::ask) != approve::ask)
    return std::nullopt;
  return open_keyboard(takes_stdin(x));
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

int not_started(const error& why, const config::config& settings, console& io) {
  const int status = report(why, io);
  point_to_init(settings, why, io);
  return status;
}

}  // namespace

int execute(const run_command& x, console& io) {
  auto settings = load_config(x.common, config_use::acts, takes_stdin(x), io);
  if (!settings) return usage;
  for (const auto& known : {check_agent(x.agent, *settings),
                            choose_model(x.choices.model, *settings)}) {
    if (!known) return report(known.error(), io);
  }
  auto request = request_for(x, io);
  if (!request) return report(request.error(), io);
  if (auto ok = check_attachments(*request, *settings); !ok)
    return report(ok.error(), io);
  request->surroundings = surroundings_of(x.agent, *settings).text;
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
  if (request->session && !request->model)
    request->model = model_of_session(*settings, *request->session, x.agent);
  auto rt = with_room(
      room, [&] { return runtime::create(*settings, {.owns_process = true}); });
  if (room.status()) return *room.status();
  if (!rt) return report(rt.error(), io);
  const auto first = finish_first(*rt, x, signals, room, io);
  if (room.status()) return *room.status();
  if (first == interrupted_by_user || signals.asked_to_stop())
    return interrupted_by_user;
  room.finish_with({});
  const auto started = start_with_room(room, signals, [&](auto stop) {
    request->stop = std::move(stop);
    return rt->start(*request);
  });
  if (room.status()) return *room.status();
  if (!started) return not_started(started.error(), *settings, io);
  const int status = watch({*rt, *started, std::move(keyboard)}, x.common,
                           x.show, signals, room, io);
  tell_way_on(x.common, io);
  return status;
}

}  // namespace riffle::cli
