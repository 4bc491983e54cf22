// SPDX-License-Identifier: MIT
// The only file that includes the command line library.
#include "runtime/cli/parse.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include "runtime/cli/cli.hpp"
#include "runtime/cli/help.hpp"
#include "runtime/config/config.hpp"

namespace riffle::cli {

namespace {

constexpr int usage_error = 2;

/// In the contract, but not built.
constexpr std::array<std::string_view, 7> later_options = {
    "--context",   "--context-file", "--workers", "--max-retries",
    "--fail-fast", "--tasks-file",   "--no-token"};
constexpr std::array<std::string_view, 5> later_commands = {
    "plan", "serve", "node", "proposals", "tools"};

/// Texts as CLI11 writes them; turned into values after parsing.
struct raw_options {
  std::string config;
  std::string output = "text";
  bool quiet = false;
  bool verbose = false;
  bool no_color = false;
  bool reasoning = false;
  bool stats = false;
  std::string timeout;
  std::string approval;
  std::string session;
  std::string model;
  std::uint32_t max_steps = 0;
  std::vector<std::string> extra;
};

struct parser {
  parser();

  CLI::App app{
      "Riffle runs LLM agents whose tools work while the answer "
      "still streams.",
      "riffle"};
  raw_options raw;
  common_options common;
  run_command run;
  resume_command resume;
  sessions_command sessions;
  events_check_command events;
  config_command config;
  command result;

 private:
  void add_common(CLI::App& x);
  void add_choices(CLI::App& x);
  void add_run();
  void add_sessions();
  void add_resume(CLI::App& parent);
  void add_events();
  void add_config();
  common_options finish_common() const;
  run_choices finish_choices() const;
  void finish_run();
};

std::string check_duration(const std::string& text) {
  const auto x = config::parse_duration(text);
  if (x && x->count() > 0) return {};
  return "\"" + text + "\" is not a duration such as 30s, 5m or 1.5h";
}

parser::parser() {
  app.set_version_flag("--version", "riffle " + std::string{version});
  app.require_subcommand(1);
  app.footer(help::main);
  add_run();
  add_sessions();
  add_events();
  add_config();
}

void parser::add_common(CLI::App& x) {
  x.add_option("--config", raw.config, "Configuration file")->type_name("FILE");
  x.add_option("--set", common.sets,
               "Set one key of the configuration; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  x.add_option("--output", raw.output,
               "What standard output gets: the answer, one JSON object, or "
               "the events as they happen")
      ->type_name("text|json|jsonl")
      ->check(CLI::IsMember({"text", "json", "jsonl"}));
  auto* quiet = x.add_flag("-q,--quiet", raw.quiet,
                           "Nothing but errors on standard error");
  x.add_flag("-v,--verbose", raw.verbose,
             "Also steps, arguments and the output of tools")
      ->excludes(quiet);
  x.add_flag("--no-color", raw.no_color,
             "No colours; also with $NO_COLOR, or without a terminal");
}

void parser::add_run() {
  auto* x = app.add_subcommand("run", "Give an agent a task");
  x->footer(help::run);
  x->add_option("TASK", run.task, "What to do; '-' reads standard input")
      ->required();
  x->add_option("EXTRA", raw.extra)->group("");
  x->add_option("--session", raw.session,
                "Go on with a session, or name a new one")
      ->type_name("ID");
  x->add_option("--agent", run.agent, "An agent of the configuration")
      ->type_name("NAME");
  add_choices(*x);
  add_common(*x);
  x->final_callback([this] { finish_run(); });
}

void parser::add_choices(CLI::App& x) {
  x.add_option("--model", raw.model,
               "A model of the configuration, instead of the agent's")
      ->type_name("NAME");
  x.add_option("--max-steps", raw.max_steps, "Most model calls")
      ->type_name("N")
      ->check(CLI::Range(1u, 1'000'000u));
  x.add_option("--timeout", raw.timeout, "Longest time for the whole run")
      ->type_name("DURATION")
      ->check(CLI::Validator{check_duration, ""});
  x.add_option("--approve", raw.approval,
               "Calls that need approval: approve all, or none (the default)")
      ->type_name("all|none")
      ->check(CLI::IsMember({"all", "none"}));
  x.add_flag("--show-reasoning", raw.reasoning,
             "Also what the model thinks, on standard error");
  x.add_flag("--stats", raw.stats,
             "At the end: tokens, cost, time of tools, retries");
}

run_choices parser::finish_choices() const {
  run_choices out;
  if (!raw.model.empty()) out.model = raw.model;
  if (raw.max_steps > 0) out.max_steps = raw.max_steps;
  if (!raw.timeout.empty()) {
    out.timeout = config::parse_duration(raw.timeout).value_or(duration{});
  }
  if (raw.approval == "all") out.approval = approve::all;
  if (raw.approval == "none") out.approval = approve::none;
  out.show = {raw.reasoning, raw.stats};
  return out;
}

void parser::finish_run() {
  if (!raw.extra.empty()) {
    throw CLI::ValidationError{
        "TASK",
        "this version runs one task at a time, and a second one begins "
        "with \"" +
            raw.extra.front() + "\"; quote a task of several words"};
  }
  if (run.task.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw CLI::ValidationError{"TASK", "is empty"};
  }
  run.common = finish_common();
  if (!raw.session.empty()) run.session = raw.session;
  run.choices = finish_choices();
  result = run;
}

void parser::add_sessions() {
  auto* x = app.add_subcommand("sessions", "List, show and resume sessions");
  x->require_subcommand(1);
  x->footer(help::sessions);
  using what = sessions_command::what;
  const auto add = [&](const char* name, const char* about, what action) {
    auto* sub = x->add_subcommand(name, about);
    if (action == what::list) {
      sub->add_option("--limit", sessions.limit, "Newest first, at most")
          ->type_name("N")
          ->check(CLI::Range(std::size_t{1}, std::size_t{10000}));
    } else {
      sub->add_option("ID", sessions.session, "The session")->required();
    }
    add_common(*sub);
    sub->final_callback([this, action] {
      sessions.common = finish_common();
      sessions.action = action;
      result = sessions;
    });
  };
  add("list", "Sessions and their last task, newest first", what::list);
  add("show", "The conversation of a session", what::show);
  add("events", "The events of all runs of a session, run after run",
      what::events);
  add_resume(*x);
}

void parser::add_resume(CLI::App& parent) {
  auto* x =
      parent.add_subcommand("resume", "Finish what is unfinished in a session");
  x->footer(help::resume);
  x->add_option("ID", resume.session, "The session")->required();
  add_choices(*x);
  add_common(*x);
  x->final_callback([this] {
    resume.common = finish_common();
    resume.choices = finish_choices();
    result = resume;
  });
}

void parser::add_events() {
  auto* x = app.add_subcommand("events", "Check recorded events");
  x->require_subcommand(1);
  x->footer(help::events);
  auto* sub = x->add_subcommand("check",
                                "Check the promises of an event "
                                "stream");
  sub->add_option("FILE", events.file, "JSON lines; '-' reads standard input")
      ->required();
  sub->add_flag("--allow-unfinished", events.allow_unfinished,
                "The last run may go on where the file ends");
  add_common(*sub);
  sub->final_callback([this] {
    events.common = finish_common();
    result = events;
  });
}

void parser::add_config() {
  auto* x = app.add_subcommand("config", "Check and show the configuration");
  x->require_subcommand(1);
  x->footer(help::config);
  using what = config_command::what;
  const auto add = [&](const char* name, const char* about, what action) {
    auto* sub = x->add_subcommand(name, about);
    add_common(*sub);
    sub->final_callback([this, action] {
      config.common = finish_common();
      config.action = action;
      result = config;
    });
  };
  add("check", "Report all mistakes, start nothing", what::check);
  add("show", "Print every key with its value", what::show);
}

common_options parser::finish_common() const {
  auto out = common;
  if (!raw.config.empty()) out.config = raw.config;
  if (raw.output == "json") out.output = output_kind::json;
  if (raw.output == "jsonl") out.output = output_kind::jsonl;
  if (raw.quiet) out.level = verbosity::quiet;
  if (raw.verbose) out.level = verbosity::verbose;
  out.color = !raw.no_color;
  return out;
}

/// The command that the arguments reached, for "see …".
std::string help_of(const CLI::App& app) {
  std::string name = "riffle";
  const auto* x = &app;
  while (!x->get_subcommands().empty()) {
    x = x->get_subcommands().front();
    name += " " + x->get_name();
  }
  return name + " --help";
}

template <class Names>
bool is_in(const Names& names, const std::string& x) {
  return std::ranges::find(names, x) != names.end();
}

/// Something of the contract that this version does not have; else empty.
std::string later_word(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return {};
  if (is_in(later_commands, arguments.front())) return arguments.front();
  for (const auto& x : arguments) {
    if (x == "--") break;
    if (is_in(later_options, x.substr(0, x.find('=')))) return x;
  }
  return {};
}

leave_command explain(const parser& p, const CLI::ParseError& e,
                      const std::vector<std::string>& arguments) {
  leave_command out;
  out.status = usage_error;
  const auto later = later_word(arguments);
  out.err = "riffle: " +
            (later.empty() ? std::string{e.what()}
                           : later + " is not supported by this version") +
            "\nSee: " + help_of(p.app) + "\n";
  return out;
}

}  // namespace

command parse(std::vector<std::string> arguments) {
  parser p;
  auto reversed = arguments;
  std::ranges::reverse(reversed);
  try {
    p.app.parse(std::move(reversed));
    return p.result;
  } catch (const CLI::CallForHelp&) {
    return leave_command{0, p.app.help(), ""};
  } catch (const CLI::CallForVersion& e) {
    return leave_command{0, std::string{e.what()} + "\n", ""};
  } catch (const CLI::ParseError& e) {
    return explain(p, e, arguments);
  }
}

}  // namespace riffle::cli
