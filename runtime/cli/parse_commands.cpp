// SPDX-License-Identifier: MIT
#include "runtime/base/text.hpp"
#include "runtime/cli/help.hpp"
#include "runtime/cli/parser.hpp"

namespace riffle::cli {

/// What each of its commands is about.
void parser::add_session_choices(CLI::App& sub, sessions_command::what action) {
  using what = sessions_command::what;
  if (action == what::list) {
    sub.add_option("--limit", sessions.limit, "Newest first, at most")
        ->type_name("N")
        ->check(CLI::Range(std::size_t{1}, std::size_t{10000}));
    sub.add_option("--search", sessions.search,
                   "Only those with all these words in their title or id, "
                   "of the newest 10,000")
        ->type_name("WORDS")
        ->check(CLI::Validator{[](const std::string& text) {
                                 return std::string{trimmed(text).empty()
                                                        ? "must not be empty"
                                                        : ""};
                               },
                               ""});
    sub.add_option("BEGIN", sessions.id,
                   "Only those whose id begins so; plan_call_: single calls "
                   "of MCP clients, which stand in no other list");
  } else if (action == what::output) {
    sub.add_option("CALL", sessions.id,
                   "A call's id; a session's lists its calls; none: those "
                   "of the newest session");
  } else if (action == what::show) {
    sub.add_option("ID", sessions.id, "The session; none: the newest one");
  } else if (action == what::diff) {
    sub.add_option("ID", sessions.id,
                   "The session; none: the newest one of this folder");
    sub.add_option("FILE", sessions.file, "Only of this file");
  } else {
    sub.add_option("ID", sessions.id, "The session")->required();
  }
}

void parser::add_sessions() {
  auto* x = app.add_subcommand("sessions", "List, show and resume sessions");
  x->require_subcommand(1);
  x->footer(help::sessions);
  using what = sessions_command::what;
  const auto add = [&](const char* name, const char* about, what action,
                       bool forgets = false) {
    auto* sub = x->add_subcommand(name, about);
    sub->footer(help::sessions);
    add_session_choices(*sub, action);
    if (action == what::cancel && !forgets)
      sub->add_option("--reason", sessions.reason, "Why; stands in the log")
          ->type_name("TEXT");
    add_common(*sub);
    sub->final_callback([this, action, forgets] {
      sessions.forgets = forgets;
      if (forgets) sessions.reason = "it is not to be finished";
      sessions.common = finish_common();
      sessions.action = action;
      result = sessions;
    });
  };
  add("list", "Sessions and their last task, newest first", what::list);
  add("show", "The conversation of a session", what::show);
  add("diff", "What a session's calls of write and edit changed in files",
      what::diff);
  add("events", "The events of all runs of a session, run after run",
      what::events);
  add("output", "The whole output of a tool call; without one, which there are",
      what::output);
  add("cancel", "End the run of a session, whoever works on it", what::cancel);
  add("forget", "End a run that was interrupted, without finishing it",
      what::cancel, true);
  add("delete", "Delete a session with all that is kept of it", what::remove);
  add_resume(*x);
}

void parser::add_resume(CLI::App& parent) {
  auto* x =
      parent.add_subcommand("resume", "Finish what is unfinished in a session");
  x->footer(help::resume);
  x->add_option("ID", resume.session, "The session, volley or plan")
      ->required();
  x->add_option("--on-error", raw.on_error,
                "Of a plan: what becomes of its open step if that fails, also "
                "because it was cut; else as the plan says")
      ->type_name("stop|continue|retry")
      ->check(CLI::IsMember({"stop", "continue", "retry"}));
  add_choices(*x, "by itself: ask at a terminal, else as it was begun");
  add_common(*x);
  x->final_callback([this] {
    resume.common = finish_common();
    resume.choices = finish_choices();
    resume.show = finish_show();
    result = resume;
  });
}

void parser::add_always(CLI::App& sub) {
  auto* always =
      sub.add_option("--always", raw.always,
                     "Also approve further calls in its session and folder: "
                     "this very call, those that match its pattern (see "
                     "'show'), or all of its tool")
          ->type_name("call|pattern|tool")
          ->check(CLI::IsMember({"call", "pattern", "tool"}));
  sub.add_flag("--kept", proposals.kept,
               "In every session of the folder, also in later ones")
      ->needs(always);
}

void parser::add_proposal_filters(CLI::App& list, CLI::App& always) {
  list.add_flag("--all", proposals.all, "Also what was decided");
  list.add_option("--session", raw.session, "Of this session only")
      ->type_name("ID");
  list.add_option("--limit", proposals.limit, "At most")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10000}));
  always.add_option("--revoke", proposals.id, "Take this one back")
      ->type_name("ID");
  always.add_option("--session", raw.session, "Of this session only")
      ->type_name("ID");
}

void parser::add_proposals() {
  auto* x = app.add_subcommand("proposals", "Decide what waits for approval");
  x->require_subcommand(1);
  x->footer(help::proposals);
  using what = proposals_command::what;
  const auto add = [&](const char* name, const char* about, what action) {
    auto* sub = x->add_subcommand(name, about);
    sub->footer(help::proposals);
    if (action == what::show)
      sub->add_option("ID", proposals.id, "The proposal (else the newest)");
    else if (action != what::list && action != what::always)
      sub->add_option("ID", proposals.id, "The proposal")->required();
    add_common(*sub);
    sub->final_callback([this, action] {
      proposals.common = finish_common();
      proposals.action = action;
      if (!raw.session.empty()) proposals.session = raw.session;
      if (!raw.arguments.empty()) proposals.arguments = raw.arguments;
      proposals.always =
          parse_always_scope(raw.always).value_or(always_scope::none);
      result = proposals;
    });
    return sub;
  };
  auto* list =
      add("list", "What waits for a decision, oldest first", what::list);
  add("show", "All of one proposal: what would be done", what::show);
  add_always(*add("approve", "Let it be done", what::approve));
  auto* deny = add("deny", "Do not let it be done", what::deny);
  auto* why =
      deny->add_option("REASON", proposals.reason, "Why; the model is told");
  deny->add_option("--reason", proposals.reason, "The same")
      ->type_name("TEXT")
      ->excludes(why);
  add_proposal_filters(
      *list,
      *add("always", "What was approved for further calls too", what::always));
  add("edit", "Let it be done with other arguments", what::edit)
      ->add_option("--arguments", raw.arguments,
                   "The arguments, an object; '-' reads standard input; "
                   "without it $VISUAL or $EDITOR is opened")
      ->type_name("JSON");
}

void parser::add_completion() {
  auto* x = app.add_subcommand("completion",
                               "Print completions for a shell, or the manual "
                               "page");
  x->footer(help::completion);
  auto* script = x->add_option("SCRIPT", completion.script, "What to print")
                     ->type_name("bash|zsh|fish|man")
                     ->check(CLI::IsMember({"bash", "zsh", "fish", "man"}));
  auto* names =
      x->add_option("--names", completion.names,
                    "Instead: names that there are, a line each; for scripts")
          ->type_name("sessions|unfinished|proposals|models|agents|tools")
          ->check(CLI::IsMember({"sessions", "unfinished", "proposals",
                                 "models", "agents", "tools"}))
          ->excludes(script);
  add_common(*x);
  x->final_callback([this, script, names] {
    if (script->count() + names->count() == 0)
      throw CLI::RequiredError{"SCRIPT"};
    completion.common = finish_common();
    result = completion;
  });
}

void parser::add_events() {
  auto* x = app.add_subcommand("events", "Check recorded events");
  x->require_subcommand(1);
  x->footer(help::events);
  auto* sub = x->add_subcommand("check",
                                "Check the promises of an event "
                                "stream");
  sub->footer(help::events);
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

void parser::add_tools() {
  auto* x = app.add_subcommand("tools", "List tools, call one by hand");
  x->require_subcommand(1);
  x->footer(help::tools);
  using what = tools_command::what;
  const auto add = [&](const char* name, const char* about, what action) {
    auto* sub = x->add_subcommand(name, about);
    sub->footer(action == what::call ? help::tools_call : help::tools);
    if (action == what::call) {
      sub->add_option("NAME", tools.name, "The tool")->required();
      sub->add_option("JSON", tools.arguments,
                      "Its arguments, an object; '-' reads standard input");
    }
    if (action == what::list)
      sub->add_flag("--servers", tools.servers,
                    "Start the servers in [mcp], and list their tools, too");
    add_common(*sub);
    sub->final_callback([this, action] {
      tools.common = finish_common();
      tools.action = action;
      result = tools;
    });
  };
  add("list", "Every tool that there is, and what it does", what::list);
  add("call", "Run one tool, outside of a run", what::call);
}

void parser::add_models() {
  auto* x = app.add_subcommand("models", "List and check models");
  x->require_subcommand(1);
  x->footer(help::models);
  using what = models_command::what;
  const auto add = [&](const char* name, const char* about, what action) {
    auto* sub = x->add_subcommand(name, about);
    sub->footer(help::models);
    if (action == what::list)
      sub->add_option("NAME", models.name,
                      "A provider, or a model of the configuration (default: "
                      "that of the agent \"default\")");
    if (action == what::check)
      sub->add_option("NAME", models.name,
                      "A model of the configuration, or PROVIDER/MODEL")
          ->required();
    add_common(*sub);
    sub->final_callback([this, action] {
      models.common = finish_common();
      models.action = action;
      result = models;
    });
  };
  add("list", "Ask a server which models it has", what::list);
  add("check", "One tiny request: what works with a model", what::check);
  add("providers", "The providers that need no table", what::providers);
}

void parser::add_config() {
  auto* x =
      app.add_subcommand("config", "Check, show and start a configuration");
  x->require_subcommand(1);
  x->footer(help::config);
  using what = config_command::what;
  const auto add = [&](const char* name, const char* about, what action) {
    auto* sub = x->add_subcommand(name, about);
    sub->footer(help::config);
    if (action == what::init) {
      sub->add_option("FILE", config.file, "Where to (default: riffle.toml)");
      sub->add_flag("--force", config.force, "Replace a file that is there");
    }
    if (action == what::trust) {
      sub->add_option("FILE", config.file, "Which (default: riffle.toml)");
      sub->add_flag("--yes", config.yes, "Trust it without being asked");
      auto* list = sub->add_flag("--list", config.list, "What is trusted");
      sub->add_flag("--revoke", config.revoke, "Trust it no more")
          ->excludes(list);
    }
    add_common(*sub);
    sub->final_callback([this, action] {
      config.common = finish_common();
      config.action = action;
      result = config;
    });
  };
  add("check", "Report all mistakes, start nothing", what::check);
  add("show", "Print every key with its value and where it comes from",
      what::show);
  add("init", "Write a riffle.toml that explains every key", what::init);
  add("trust", "Look at a folder's riffle.toml, and let it count", what::trust);
}

void parser::add_init() {
  auto* x = app.add_subcommand("init",
                               "Choose a model, write a configuration, try it");
  x->footer(help::init);
  x->add_option("--provider", init.provider, "Its provider")->type_name("NAME");
  x->add_option("--model", init.model, "As the provider calls it")
      ->type_name("NAME");
  x->add_flag("--here", init.here, "Write ./riffle.toml, for this folder");
  x->add_flag("--force", init.force, "Replace a file that is there");
  add_common(*x);
  x->final_callback([this] {
    init.common = finish_common();
    result = init;
  });
}

}  // namespace riffle::cli
