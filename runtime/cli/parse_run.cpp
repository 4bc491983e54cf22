// SPDX-License-Identifier: MIT
// riffle run, and what it shares with riffle sessions resume.
#include <algorithm>

#include "messages/duration_text.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/help.hpp"
#include "runtime/cli/parser.hpp"
#include "runtime/config/config.hpp"

namespace riffle::cli {

namespace {

std::string check_duration(const std::string& text) {
  const auto x = parse_duration(text);
  if (x && x->count() > 0) return {};
  if (x) return "it must be above 0; without it there is no limit";
  return "\"" + text + "\" is not a duration such as 30s, 5m or 1.5h";
}

}  // namespace

void parser::add_run() {
  auto* x = app.add_subcommand("run", "Give an agent a task, or several");
  x->footer(help::run);
  x->add_option("TASK", raw.tasks,
                "What to do; '-' reads standard input; several are a volley, "
                "each in a session of its own");
  add_volley(*x);
  add_conversation(*x);
  auto* context = x->add_option("--context", run.context,
                                "What the model is told beside the task")
                      ->type_name("TEXT");
  x->add_option("--context-file", raw.context_file,
                "The same, from a file (at most 8 MiB); '-': standard input")
      ->type_name("FILE")
      ->excludes(context);
  x->add_flag(
      "--no-stdin", [this](auto) { run.reads_stdin = false; },
      "Do not tell the model what comes through a pipe or from a file on "
      "standard input");
  x->add_option("--phase", run.phase,
                "The phase of the work that the session enters, such as work "
                "or chat")
      ->type_name("NAME");
  x->add_option("--schema", raw.schema,
                "The answer is JSON that fits this JSON Schema")
      ->type_name("FILE");
  x->add_option("--attach", raw.attachments,
                "A picture or PDF that the model is shown; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  x->add_flag("--stream", raw.stream,
              "Into a pipe or file: the model's text as it comes, not only "
              "the answer at the end");
  add_choices(*x);
  add_common(*x);
  x->final_callback([this] { finish_run(); });
}

/// What counts for several tasks alone.
void parser::add_volley(CLI::App& x) {
  x.add_option("--tasks-file", raw.tasks_file,
               "Tasks from a file: a line each (# begins a comment), or JSON; "
               "'-' reads standard input")
      ->type_name("FILE");
  x.add_option("--workers", volley.workers,
               "Of several tasks: so many run at once, but of one model no "
               "more than its max_concurrent")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1u, 1'000u));
  x.add_option("--max-retries", volley.max_retries,
               "Of several tasks: further runs of one that failed by what "
               "may pass")
      ->type_name("N")
      ->check(CLI::Range(0u, 100u));
  x.add_flag("--fail-fast", volley.fail_fast,
             "Of several tasks: the first that fails ends the others");
}

/// Which conversation, and with whom.
void parser::add_conversation(CLI::App& x) {
  auto* session =
      x.add_option("--session", raw.session,
                   "Go on with a session (the end of its id is enough), or "
                   "name a new one")
          ->type_name("ID");
  x.add_flag("-c,--continue", run.goes_on,
             "Go on with the newest session of this folder, but for those of "
             "several tasks and of plans")
      ->excludes(session);
  x.add_option("--agent", run.agent, "An agent of the configuration")
      ->type_name("NAME");
}

void parser::add_chat() {
  auto* x = app.add_subcommand(
      "chat", "A conversation at the terminal; 'riffle' alone begins one too");
  x->footer(help::chat);
  add_conversation(*x);
  add_choices(*x);
  add_common(*x);
  x->get_option("--output")->group("");  // it has but one value here
  x->final_callback([this] {
    run.common = finish_common();
    if (!raw.session.empty()) run.session = raw.session;
    run.choices = finish_choices();
    run.show = finish_show();
    if (run.common.output != output_kind::text)
      throw CLI::ValidationError{
          "--output", "a conversation is text; 'riffle run -c' has the others"};
    result = chat_command{run};
  });
}

void parser::add_choices(CLI::App& x, const std::string& otherwise) {
  x.add_option("-m,--model", raw.model,
               "A model of the configuration, or PROVIDER/MODEL, instead of "
               "the agent's")
      ->type_name("NAME");
  x.add_option("--max-steps", raw.max_steps, "Most model calls")
      ->type_name("N")
      ->check(CLI::Range(1u, 1'000'000u));
  x.add_option("--timeout", raw.timeout,
               "Longest time for the whole run; of several tasks, for each")
      ->type_name("DURATION")
      ->check(CLI::Validator{check_duration, ""});
  x.add_option(
       "--approve", raw.approval,
       "Calls that need approval: ask, approve all, or none; " + otherwise)
      ->type_name("ask|all|none")
      ->check(CLI::IsMember({"ask", "all", "none"}));
  x.add_flag("--raw", raw.raw,
             "At a terminal: the text as the model writes it, its Markdown "
             "not rendered");
  x.add_flag("--notify", raw.notify,
             "At a terminal: a bell and a note of the desktop when it ends, or "
             "waits for an answer");
  x.add_flag("--show-reasoning", raw.reasoning,
             "Also what the model thinks, on standard error");
  x.add_flag("--stats", raw.stats,
             "At the end: tokens, cost, time of tools, retries");
  x.add_flag("--emit-tool-trace", raw.tool_trace,
             "A JSON line for each tool call that ended, on standard error");
  add_insecure(x);
}

show_options parser::finish_show() const {
  return {.reasoning = raw.reasoning,
          .stats = raw.stats,
          .tool_trace = raw.tool_trace,
          .raw = raw.raw,
          .stream = raw.stream,
          .notify = raw.notify};
}

resume_options parser::finish_choices() const {
  resume_options out;
  if (!raw.model.empty()) out.model = raw.model;
  if (raw.max_steps > 0) out.max_steps = raw.max_steps;
  if (!raw.timeout.empty()) {
    out.timeout = parse_duration(raw.timeout).value_or(duration{});
  }
  if (raw.approval == "all") out.approval = approve::all;
  if (raw.approval == "none") out.approval = approve::none;
  if (raw.approval == "ask") out.approval = approve::ask;
  if (raw.on_error == "stop") out.on_error = step_failure::stop;
  if (raw.on_error == "continue") out.on_error = step_failure::go_on;
  if (raw.on_error == "retry") out.on_error = step_failure::retry;
  return out;
}

namespace {

/// A task of several words that was not quoted looks like several tasks. In
/// scripts without blanks, such as Japanese, a sentence is one word.
void check_words(const std::vector<std::string>& tasks) {
  const bool words = std::ranges::none_of(tasks, [](const auto& x) {
    return std::ranges::any_of(x, [](const char c) {
      return c == ' ' || c == '\t' || c == '\n' ||
             static_cast<unsigned char>(c) >= 0x80;
    });
  });
  if (!words) return;
  std::string all;
  for (const auto& x : tasks) all += (all.empty() ? "" : " ") + x;
  throw CLI::ValidationError{
      "TASK",
      "no task here has a blank in it: quote one task of several "
      "words, riffle run \"" +
          all + "\", or say that they are several, riffle run -- " + all};
}

}  // namespace

void parser::finish_run() {
  run.common = finish_common();
  if (!raw.session.empty()) run.session = raw.session;
  if (!raw.context_file.empty()) run.context_file = raw.context_file;
  if (!raw.schema.empty()) run.schema_file = raw.schema;
  run.attachments.assign(raw.attachments.begin(), raw.attachments.end());
  run.choices = finish_choices();
  run.show = finish_show();
  if (raw.tasks.empty() && raw.tasks_file.empty())
    throw CLI::RequiredError{"TASK"};
  for (auto& x : raw.tasks)
    if (x.front() == list_guard) x.erase(0, 1);
  for (const auto& x : raw.tasks)
    if (trimmed(x).empty()) throw CLI::ValidationError{"TASK", "is empty"};
  const bool several =
      raw.tasks.size() > 1 || !raw.tasks_file.empty() || volley.max_retries > 0;
  if (run.show.stream && run.common.output != output_kind::text)
    throw CLI::ValidationError{
        "--stream", "is for text; --output jsonl has each event as it comes"};
  if (several) return finish_volley();
  run.task = raw.tasks.front();
  if (run.task == "-" && raw.context_file == "-")
    throw CLI::ValidationError{
        "--context-file",
        "and the task cannot both be '-': standard input is read once"};
  result = run;
}

void parser::finish_volley() {
  if (run.goes_on)
    throw CLI::ValidationError{
        "--continue", "goes on with one session, and this is several tasks"};
  if (run.show.stream)
    throw CLI::ValidationError{
        "--stream", "is for one task: answers of several come one by one"};
  // Who says how many run at once, or what becomes of the others, means
  // several.
  const auto* asked = app.get_subcommand("run");
  const bool several = tasks_are_several || asked->count("--workers") > 0 ||
                       asked->count("--max-retries") > 0 || volley.fail_fast;
  if (raw.tasks.size() > 1 && !several) check_words(raw.tasks);
  const auto from_stdin = std::ranges::count(raw.tasks, "-") +
                          (raw.tasks_file == "-" ? 1 : 0) +
                          (raw.context_file == "-" ? 1 : 0);
  if (from_stdin > 1)
    throw CLI::ValidationError{
        "TASK",
        "only one of the tasks, --tasks-file and --context-file can be '-': "
        "standard input is read once"};
  volley.each = run;
  volley.tasks = raw.tasks;
  if (!raw.tasks_file.empty()) volley.tasks_file = raw.tasks_file;
  result = volley;
}

}  // namespace riffle::cli
