// SPDX-License-Identifier: MIT
// riffle run with several tasks
#include "runtime/cli/commands/volley.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/cli/commands/asking.hpp"
#include "runtime/cli/commands/init.hpp"
#include "runtime/cli/commands/requests.hpp"
#include "runtime/cli/commands/unfinished.hpp"
#include "runtime/cli/commands/unread_limits.hpp"
#include "runtime/cli/tasks_file.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/terminal/read_text.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/limits_text.hpp"
#include "runtime/cli/view/people_text.hpp"
#include "runtime/cli/view/run_output.hpp"
#include "runtime/cli/view/volley_output.hpp"

namespace riffle::cli {

namespace {

/// What was read of the tasks, before anything is looked for.
struct read_tasks {
  run_request shared;  ///< what is said once for all
  std::string given;   ///< what came through a pipe, for all
  std::vector<listed_task> tasks;
};

bool has_stdin_task(const volley_command& x) {
  return x.tasks_file == "-" ||
         std::ranges::find(x.tasks, "-") != x.tasks.end();
}

expected<std::vector<listed_task>> listed(const volley_command& x) {
  if (!x.tasks_file) return {};
  const bool from_stdin = *x.tasks_file == "-";
  auto text =
      from_stdin ? read_stdin("tasks") : read_file(*x.tasks_file, "tasks");
  if (!text) return unexpected{std::move(text.error())};
  return parse_tasks(*text, from_stdin ? "standard input" : *x.tasks_file);
}

/// May read standard input.
expected<read_tasks> read_all(const volley_command& x, console& io) {
  auto shared = said_with(x.each, {});
  if (!shared) return unexpected{std::move(shared.error())};
  auto tasks = listed(x);
  if (!tasks) return unexpected{std::move(tasks.error())};
  for (const auto& text : x.tasks) {
    auto task = text == "-" ? read_stdin("task") : expected<std::string>{text};
    if (!task) return unexpected{std::move(task.error())};
    tasks->push_back({std::move(*task)});
  }
  auto given = has_stdin_task(x) ? std::string{} : given_input(x.each, io);
  if (!given) return unexpected{std::move(given.error())};
  return read_tasks{std::move(*shared), std::move(*given), std::move(*tasks)};
}

run_request request_of(const listed_task& task, const run_request& shared) {
  auto one = shared;
  one.task = task.task;
  one.context = task.context.value_or(std::string{});
  if (task.agent) one.agent = *task.agent;
  if (task.model) one.model = task.model;
  for (const auto& file : task.attachments) one.attachments.push_back({file});
  return one;
}

/// What all are told alike is in it once.
expected<volley_request> request_of(const volley_command& x, read_tasks from,
                                    request_maker& maker) {
  volley_request out;
  out.workers = x.workers;
  out.max_retries = x.max_retries;
  out.fail_fast = x.fail_fast;
  out.shared.context = std::move(from.shared.context);
  out.shared.given = std::move(from.given);
  for (const auto& task : from.tasks) {
    auto one = request_of(task, from.shared);
    const auto& session = task.session ? task.session : x.each.session;
    const auto& agent = task.agent ? task.agent : x.each.agent;
    if (auto ok = maker.complete(one, session, agent); !ok) {
      auto why = std::move(ok.error());
      // What all have in common is no mistake of the first one.
      if (task.agent || task.model || task.session || !task.attachments.empty())
        why.message = "task " + std::to_string(out.tasks.size() + 1) + " of " +
                      std::to_string(from.tasks.size()) + ": " + why.message;
      return unexpected{std::move(why)};
    }
    out.shared.surroundings.try_emplace(one.agent,
                                        maker.surroundings(one.agent));
    out.tasks.push_back(std::move(one));
  }
  return out;
}

/// Of each agent that works.
std::string limits_of(const volley_request& x, const config::config& settings,
                      const resume_options& choices) {
  std::string out;
  const auto& agents = x.shared.surroundings;
  for (const auto& [agent, told] : agents) {
    if (agents.size() > 1) out += "[LIMITS] of agent " + agent + ":\n";
    out += limits_text(settings, agent, choices);
  }
  return out;
}

/// What makes fewer run at once than a person asked for, once.
void tell_limits(const volley_request& x, const config::config& settings,
                 const common_options& options, console& io) {
  if (options.level == verbosity::quiet || options.output != output_kind::text)
    return;
  std::map<std::string, std::size_t> tasks;  // by model
  for (const auto& task : x.tasks) {
    const auto agent = settings.agents.find(task.agent);
    const auto own =
        agent == settings.agents.end() ? std::string{} : agent->second.model;
    ++tasks[task.model.value_or(own)];
  }
  for (const auto& [name, count] : tasks) {
    const auto model = config::find_model(settings, name);
    const auto most = model ? model->max_concurrent : 0;
    if (most > 0 && most < std::min<std::size_t>(x.workers, count))
      io.complain(std::to_string(most) + " at a time: models." + name +
                  ".max_concurrent");
  }
}

/// What was stopped has not ended; how much that is stands above, if it is
/// summed up.
void tell_how_to_go_on(const watched_volley& x, const volley_output& output,
                       const common_options& options, console& io) {
  if (options.level == verbosity::quiet || output.cancelled() == 0) return;
  const auto all = x.of.tasks().size();
  const auto left = all - output.ended();
  const bool approves =
      x.decides ? x.decides() == approve::all : x.approves_all;
  const auto what =
      output.tells_sum()
          ? std::string{"go on with what has not ended: "}
          : std::to_string(left) + " of " + counted(all, "task") +
                (left == 1 ? " has not ended; go on with it: "
                           : " have not ended; go on with them: ");
  io.complain(what + "riffle sessions resume " + x.of.id() +
              (approves ? " --approve all" : ""));
}

/// The logs of runs that had ended before: their answers are wanted too, and
/// what they have cost.
void read_old(runtime& rt, const volley_update& x, volley_output& output) {
  if (!x.result) return;
  for (const auto& run : x.result->runs) {
    if (output.knows(x.task, run)) continue;
    auto stream = rt.events(run);
    if (!stream) continue;
    while (!stream->ended())
      if (const auto batch = stream->next(std::chrono::seconds{5}))
        output.on_old(x.task, run, batch->lines());
      else
        break;
  }
}

/// A volley as it is shown.
class shown_volley {
 public:
  shown_volley(watched_volley& x, const common_options& options,
               show_options show, const interrupts& signals, console& io)
      : x_{x},
        signals_{signals},
        io_{io},
        output_{options, show, x.of, io.out, io.err},
        work_{output_,
              x.keyboard,
              {x.rt, "the volley", "this task",
               [this](const events::approval_required& about) {
                 const auto task = output_.task_of(about.proposal);
                 if (task) x_.of.cancel(*task, stopped_by_user);
               },
               x.typing, x.decides,
               [this](const proposal_id& one) { return output_.task_of(one); }},
              options,
              show,
              signals,
              io} {
    output_.read_outputs(
        [&rt = x.rt](const call_id& id) { return last_output(rt, id); });
    output_.listen([this](const event& e) { work_.on(e); },
                   [this](const event& e) { work_.before(e); });
  }
  shown_volley(const shown_volley&) = delete;
  shown_volley& operator=(const shown_volley&) = delete;

  void to_the_end() {
    settle_clock settling;
    bool unread = false;
    while (!x_.of.ended()) {
      work_.look_once([this](auto limit) { return take(x_.of.next(limit)); });
      if (!io_.out.good() && !std::exchange(unread, true)) {
        io_.complain_of_output();
        x_.of.cancel("nobody reads the output");
      }
      if (settling.is_over(unread || signals_.asked_to_stop())) break;
    }
  }

  void finish() {
    work_.show_log();
    output_.finish();
  }

  [[nodiscard]] const volley_output& output() const { return output_; }
  [[nodiscard]] int status() const {
    return output_.status(work_.unanswered());
  }

 private:
  bool take(const std::optional<volley_update>& update) {
    if (!update) return false;
    read_old(x_.rt, *update, output_);
    output_.on(*update, std::chrono::steady_clock::now());
    return true;
  }

  watched_volley& x_;
  const interrupts& signals_;
  console& io_;
  volley_output output_;
  watched_work work_;
};

}  // namespace

int watch(watched_volley x, const common_options& options, show_options show,
          interrupts& signals, console& io) {
  const unread_limits limits{[&] { return signals.asked_to_stop(); }, io};
  show.asks = x.keyboard.has_value();
  shown_volley shown{x, options, show, signals, io};
  signals.on_stop([&of = x.of](const char* by) { of.cancel(stop_reason(by)); });
  shown.to_the_end();
  signals.on_stop({});
  shown.finish();
  if (const auto why = x.of.failure()) return report(*why, io);
  if (const auto why = shown.output().why_none_began(); why && x.settings) {
    point_to_init(*x.settings, *why, io);
    return status_of(why->code);
  }
  tell_how_to_go_on(x, shown.output(), options, io);
  ring(show, "all tasks have ended", io);
  const bool stopped =
      signals.asked_to_stop() && shown.output().cancelled() > 0;
  if (stopped || !x.of.ended()) return interrupted_by_user;
  return io.out.good() ? shown.status() : failed;
}

int execute(const volley_command& x, console& io) {
  const auto& common = x.each.common;
  const auto& choices = x.each.choices;
  const bool stdin_is_taken = has_stdin_task(x) || takes_stdin(x.each);
  auto settings = load_config(common, config_use::acts, stdin_is_taken, io);
  if (!settings) return usage;
  const auto read = read_all(x, io);
  if (!read) return report(read.error(), io);
  auto keyboard = keyboard_for(choices, stdin_is_taken);
  choose_log_level(common.level, *settings);
  interrupts signals;
  room_wait room{choices.timeout, signals, io};
  request_maker maker{*settings};
  auto request = with_room(room, [&] { return request_of(x, *read, maker); });
  if (room.status()) return *room.status();
  if (!request) return report(request.error(), io);
  tell_gone(maker, common, io);
  for (auto& task : request->tasks)
    task.approval = approval_for(choices, *settings, keyboard.has_value());
  if (common.level == verbosity::verbose)
    io.err.write(wrap_lines(limits_of(*request, *settings, choices),
                            io.err.is_terminal() ? io.err.columns() : 0));
  auto rt = with_room(
      room, [&] { return runtime::create(*settings, {.owns_process = true}); });
  if (room.status()) return *room.status();
  if (!rt) return report(rt.error(), io);
  const auto first =
      finish_first(*rt,
                   {.common = common,
                    .show = x.each.show,
                    .settings = *settings,
                    .stdin_is_taken = stdin_is_taken,
                    .next = "your " + counted(request->tasks.size(), "task")},
                   signals, room, io);
  if (room.status()) return *room.status();
  if (first == interrupted_by_user || signals.asked_to_stop())
    return not_begun(io);
  room.finish_with({});
  tell_limits(*request, *settings, common, io);
  auto started = with_room(room, [&] { return rt->start_volley(*request); });
  if (room.status()) return *room.status();
  if (!started) return not_started(started.error(), *settings, io);
  return watch({.rt = *rt,
                .of = *started,
                .keyboard = std::move(keyboard),
                .settings = &*settings,
                .approves_all = choices.approval == approve::all},
               common, x.each.show, signals, io);
}

}  // namespace riffle::cli
