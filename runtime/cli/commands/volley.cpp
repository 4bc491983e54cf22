// SPDX-License-Identifier: MIT
// riffle run with several tasks
#include "runtime/cli/commands/volley.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "runtime/cli/commands/asking.hpp"
#include "runtime/cli/commands/unread_limits.hpp"
#include "runtime/cli/tasks_file.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/terminal/read_text.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/run_output.hpp"
#include "runtime/cli/view/volley_output.hpp"

namespace riffle::cli {

namespace {

/// What the tasks have in common; may read standard input.
expected<run_request> shared_request(const volley_command& x) {
  auto out = request_of(x.each, {});
  if (x.each.context_file) {
    auto context = *x.each.context_file == "-"
                       ? read_stdin("context")
                       : read_file(*x.each.context_file, "context");
    if (!context) return unexpected{std::move(context.error())};
    out.context = std::move(*context);
  }
  if (x.each.schema_file) {
    auto schema = read_file(*x.each.schema_file, "schema");
    if (!schema) return unexpected{std::move(schema.error())};
    out.response_schema = std::move(*schema);
  }
  return out;
}

expected<std::vector<listed_task>> listed(const volley_command& x) {
  if (!x.tasks_file) return {};
  const bool from_stdin = *x.tasks_file == "-";
  auto text =
      from_stdin ? read_stdin("tasks") : read_file(*x.tasks_file, "tasks");
  if (!text) return unexpected{std::move(text.error())};
  return parse_tasks(*text, from_stdin ? "standard input" : *x.tasks_file);
}

/// Nothing: it may be started.
std::optional<error> refused(run_request& x, config::config& settings) {
  for (const auto& known :
       {check_agent(x.agent, settings), choose_model(x.model, settings),
        check_attachments(x, settings)})
    if (!known) return known.error();
  return std::nullopt;
}

expected<std::vector<run_request>> requests_of(const volley_command& x,
                                               config::config& settings) {
  const auto shared = shared_request(x);
  if (!shared) return unexpected{shared.error()};
  auto tasks = listed(x);
  if (!tasks) return unexpected{std::move(tasks.error())};
  for (const auto& text : x.tasks) {
    auto task = text == "-" ? read_stdin("task") : expected<std::string>{text};
    if (!task) return unexpected{std::move(task.error())};
    tasks->push_back({std::move(*task)});
  }
  std::vector<run_request> out;
  for (auto& task : *tasks) {
    const bool has_own = task.agent || task.model || !task.attachments.empty();
    auto one = *shared;
    one.task = std::move(task.task);
    if (task.agent) one.agent = *task.agent;
    if (task.model) one.model = task.model;
    if (task.context) one.context = *task.context;
    if (task.session) one.session = session_id{*task.session};
    for (auto& file : task.attachments)
      one.attachments.push_back({std::move(file)});
    if (auto why = refused(one, settings)) {
      // What all have in common is no mistake of the first one.
      if (has_own)
        why->message = "task " + std::to_string(out.size() + 1) + " of " +
                       std::to_string(tasks->size()) + ": " + why->message;
      return unexpected{std::move(*why)};
    }
    out.push_back(std::move(one));
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

bool takes_stdin(const volley_command& x) {
  return x.tasks_file == "-" ||
         std::ranges::find(x.tasks, "-") != x.tasks.end();
}

void tell_how_to_go_on(const volley& of, const volley_output& output,
                       const common_options& options, console& io) {
  if (options.level == verbosity::quiet || output.cancelled() == 0) return;
  io.complain(std::to_string(output.ended()) + " of " +
              std::to_string(of.tasks().size()) +
              " tasks have ended; go on with: riffle sessions resume " +
              of.id());
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
                 if (task) x_.of.cancel(*task, "stopped by the user");
               }},
              options,
              show,
              signals,
              io} {
    output_.listen([this](const event& e) { work_.on(e); });
  }
  shown_volley(const shown_volley&) = delete;
  shown_volley& operator=(const shown_volley&) = delete;

  void to_the_end() {
    patience_clock patience;
    bool unread = false;
    while (!x_.of.ended()) {
      work_.look_once([this](auto limit) { return take(x_.of.next(limit)); });
      if (!io_.out.good() && !std::exchange(unread, true)) {
        io_.complain_of_output();
        x_.of.cancel("nobody reads the output");
      }
      if (patience.is_over(unread || signals_.asked_to_stop())) break;
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
  signals.on_stop([&of = x.of](const char* by) {
    of.cancel(std::string{"cancelled by "} + by);
  });
  shown.to_the_end();
  signals.on_stop({});
  shown.finish();
  if (const auto why = x.of.failure()) return report(*why, io);
  tell_how_to_go_on(x.of, shown.output(), options, io);
  ring(show, "all tasks have ended", io);
  const bool stopped =
      signals.asked_to_stop() && shown.output().cancelled() > 0;
  if (stopped || !x.of.ended()) return interrupted_by_user;
  return io.out.good() ? shown.status() : failed;
}

int execute(const volley_command& x, console& io) {
  const bool stdin_is_taken = takes_stdin(x);
  auto settings =
      load_config(x.each.common, config_use::acts, stdin_is_taken, io);
  if (!settings) return usage;
  volley_request request;
  auto tasks = requests_of(x, *settings);
  if (!tasks) return report(tasks.error(), io);
  request.tasks = std::move(*tasks);
  request.workers = x.workers;
  request.max_retries = x.max_retries;
  request.fail_fast = x.fail_fast;
  const auto& choices = x.each.choices;
  const bool may_ask = choices.approval.value_or(approve::ask) == approve::ask;
  auto keyboard = may_ask ? open_keyboard(stdin_is_taken) : std::nullopt;
  const bool proposes = settings->approvals.mode == "propose";
  if (!choices.approval && (keyboard || proposes))
    for (auto& task : request.tasks) task.approval = approve::ask;
  choose_log_level(x.each.common.level, *settings);
  interrupts signals;
  auto rt = runtime::create(*settings, {.owns_process = true});
  if (!rt) return report(rt.error(), io);
  tell_limits(request, *settings, x.each.common, io);
  auto started = rt->start_volley(std::move(request));
  if (!started) return report(started.error(), io);
  return watch({*rt, *started, std::move(keyboard)}, x.each.common, x.each.show,
               signals, io);
}

}  // namespace riffle::cli
