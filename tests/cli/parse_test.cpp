// SPDX-License-Identifier: MIT
#include "runtime/cli/parse.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "runtime/cli/cli.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "tests/cli/parsing.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace riffle::testing;
using namespace std::chrono_literals;

TEST_CASE("run takes a task, and has safe defaults") {
  const auto x = parsed<run_command>({"run", "say hello"});
  CHECK(x.task == "say hello");
  CHECK_FALSE(x.agent);
  CHECK_FALSE(x.session);
  CHECK_FALSE(x.choices.model);
  CHECK_FALSE(x.choices.max_steps);
  CHECK(x.choices.timeout == 0s);
  CHECK_FALSE(x.choices.approval);
  CHECK_FALSE(x.common.config);
  CHECK(x.common.sets.empty());
  CHECK(x.common.output == output_kind::text);
  CHECK(x.common.level == verbosity::normal);
  CHECK(x.common.color);
}

TEST_CASE("every option of run arrives") {
  const auto x = parsed<run_command>(
      {"run",       "--config",    "c.toml",  "--set",      "a.b=1",
       "--set",     "c.d=[2, 3]",  "--agent", "writer",     "--model",
       "fast",      "--session",   "notes",   "--output",   "json",
       "--approve", "all",         "-v",      "--no-color", "--timeout",
       "1.5m",      "--max-steps", "7",       "the task"});
  CHECK(x.common.config == "c.toml");
  CHECK(x.common.sets == std::vector<std::string>{"a.b=1", "c.d=[2, 3]"});
  CHECK(x.agent == "writer");
  CHECK(x.choices.model == "fast");
  CHECK(x.session == "notes");
  CHECK(x.common.output == output_kind::json);
  CHECK(x.choices.approval == approve::all);
  const auto asked = parsed<run_command>({"run", "t", "--approve", "ask"});
  CHECK(asked.choices.approval == approve::ask);
  CHECK_FALSE(parsed<run_command>({"run", "t"}).choices.approval);
  CHECK(x.common.level == verbosity::verbose);
  CHECK_FALSE(x.common.color);
  CHECK(x.choices.timeout == 90s);
  CHECK(x.choices.max_steps == 7u);
  CHECK(x.task == "the task");
  CHECK_FALSE(x.show.reasoning);
  CHECK_FALSE(x.show.stats);
  CHECK(parsed<run_command>({"run", "--show-reasoning", "t"}).show.reasoning);
  CHECK(parsed<run_command>({"run", "--stats", "t"}).show.stats);
  CHECK_FALSE(x.show.tool_trace);
  CHECK(parsed<run_command>({"run", "--emit-tool-trace", "t"}).show.tool_trace);
  CHECK(parsed<run_command>({"run", "--raw", "t"}).show.raw);
  CHECK(parsed<run_command>({"run", "--stream", "t"}).show.stream);
  CHECK(has(refused({"run", "--stream", "--output", "json", "t"}), "for text"));
  CHECK(has(refused({"run", "--stream", "a b", "c d"}), "one task"));
  CHECK(
      parsed<run_command>({"run", "--color=always", "t"}).common.color_always);
  CHECK_FALSE(parsed<run_command>({"run", "--color=never", "t"}).common.color);
  CHECK(parsed<run_command>({"run", "--color=auto", "t"}).common.color);
  CHECK(has(refused({"run", "--color=red", "t"}), "--color"));
  CHECK(parsed<run_command>({"run", "--quiet", "t"}).common.level ==
        verbosity::quiet);
  CHECK(parsed<run_command>({"run", "--verbose", "t"}).common.level ==
        verbosity::verbose);
  CHECK(parsed<run_command>({"run", "-q", "t"}).common.level ==
        verbosity::quiet);
  CHECK(parsed<run_command>({"run", "--output", "jsonl", "t"}).common.output ==
        output_kind::jsonl);
}

TEST_CASE("a task is taken as it is") {
  CHECK(parsed<run_command>({"run", "[fix] the bug, [now]"}).task ==
        "[fix] the bug, [now]");
  CHECK(parsed<run_command>({"run", "-"}).task == "-");
  CHECK(parsed<run_command>({"run", "--", "-5 plus 3?"}).task == "-5 plus 3?");
  CHECK(parsed<run_command>({"run", "plan"}).task == "plan");
  CHECK(parsed<run_command>({"run", "a\nb\n"}).task == "a\nb\n");
}

TEST_CASE("options may stand behind the task") {
  const auto x = parsed<run_command>({"run", "t", "--set", "a.b=1", "-v"});
  CHECK(x.task == "t");
  CHECK(x.common.sets == std::vector<std::string>{"a.b=1"});
  CHECK(x.common.level == verbosity::verbose);
}

TEST_CASE("mistakes in options name the option and what is allowed") {
  CHECK(has(refused({"run", "t", "--output", "xml"}), "--output"));
  CHECK(has(refused({"run", "t", "--output", "xml"}), "jsonl"));
  CHECK(has(refused({"run", "t", "--approve", "some"}), "--approve"));
  CHECK(has(refused({"run", "t", "--timeout", "soon"}),
            "\"soon\" is not a duration such as 30s, 5m or 1.5h"));
  CHECK(has(refused({"run", "t", "--timeout", "0s"}),
            "--timeout: it must be above 0; without it there is no limit"));
  CHECK(has(refused({"run", "t", "--max-steps", "0"}), "--max-steps"));
  CHECK(has(refused({"run", "t", "--max-steps", "-1"}), "--max-steps"));
  CHECK(has(refused({"run", "t", "--max-steps", "many"}), "--max-steps"));
  CHECK(has(refused({"run", "t", "-q", "-v"}), "excludes"));
  CHECK(has(refused({"run", "t", "--nonsense"}), "--nonsense"));
  CHECK(has(refused({"mcp", "--config", "f", "list"}),
            "--config stands behind the command that it is of: riffle … list "
            "--config"));
  CHECK(has(refused({"-v", "chat"}),
            "-v stands behind the command that it is of: riffle … chat -v"));
  CHECK(has(refused({"run", "t", "--config"}), "--config"));
  CHECK(has(refused({"run", "t", "--nonsense"}), "See: riffle run --help"));
  CHECK(has(refused({}), "See: riffle --help"));
  CHECK(has(refused({"sessions"}), "See: riffle sessions --help"));
}

TEST_CASE("serve listens where it is told to, and makes tokens") {
  const auto x =
      parsed<serve_command>({"serve", "--listen", "127.0.0.1:8", "--no-token"});
  CHECK(x.no_token);
  CHECK(x.token_for.empty());
  CHECK(x.common.sets ==
        std::vector<std::string>{"server.listen=\"127.0.0.1:8\""});
  CHECK_FALSE(parsed<serve_command>({"serve"}).no_token);
  CHECK(parsed<serve_command>({"serve", "token", "ci"}).token_for == "ci");
  CHECK(has(refused({"serve", "token"}), "NAME"));
  CHECK(has(refused({"serve", "--listen="}), "--listen"));
}

TEST_CASE("sessions has list, show, events, resume and cancel") {
  using what = sessions_command::what;
  const auto list = parsed<sessions_command>(
      {"sessions", "list", "--limit", "3", "--output", "json"});
  CHECK(list.action == what::list);
  CHECK(list.limit == 3);
  CHECK(list.common.output == output_kind::json);
  CHECK(parsed<sessions_command>({"sessions", "list"}).limit == 20);
  const auto show = parsed<sessions_command>({"sessions", "show", "s1"});
  CHECK(show.action == what::show);
  CHECK(show.id == "s1");
  const auto events = parsed<sessions_command>({"sessions", "events", "s2"});
  CHECK(events.action == what::events);
  CHECK(events.id == "s2");
  const auto resume = parsed<resume_command>(
      {"sessions", "resume", "s3", "--output", "jsonl", "-q"});
  CHECK(resume.session == "s3");
  CHECK(resume.common.output == output_kind::jsonl);
  CHECK(resume.common.level == verbosity::quiet);
  const auto chosen = parsed<resume_command>(
      {"sessions", "resume", "s3", "--approve", "none", "--model", "fast",
       "--max-steps", "9", "--timeout", "3s"});
  CHECK(chosen.choices.approval == approve::none);
  CHECK(chosen.choices.model == "fast");
  CHECK(chosen.choices.max_steps == 9u);
  CHECK(chosen.choices.timeout == 3s);
  CHECK(has(refused({"sessions", "events"}), "ID is required"));
  const auto cancel = parsed<sessions_command>(
      {"sessions", "cancel", "s4", "--reason", "enough"});
  CHECK(cancel.action == what::cancel);
  CHECK(cancel.id == "s4");
  CHECK(cancel.reason == "enough");
}

TEST_CASE("proposals are listed, shown and decided") {
  using what = proposals_command::what;
  const auto read = [](const std::vector<std::string>& words) {
    return parsed<proposals_command>(words);
  };
  const auto list = read({"proposals", "list"});
  CHECK(list.action == what::list);
  CHECK_FALSE(list.all);
  CHECK_FALSE(list.session);
  CHECK(list.limit == 100);
  const auto narrow =
      read({"proposals", "list", "--all", "--session", "s", "--limit", "7"});
  CHECK(narrow.all);
  CHECK(narrow.session == "s");
  CHECK(narrow.limit == 7);
  const auto show = read({"proposals", "show", "p1"});
  CHECK(show.action == what::show);
  CHECK(show.id == "p1");
  const auto yes = read({"proposals", "approve", "p2"});
  CHECK(yes.action == what::approve);
  CHECK(yes.id == "p2");
  CHECK(yes.always == always_scope::none);
  CHECK(read({"proposals", "approve", "p2", "--always", "pattern"}).always ==
        always_scope::pattern);
  CHECK_FALSE(yes.kept);
  CHECK(read({"proposals", "approve", "p", "--always", "call", "--kept"}).kept);
  CHECK(has(refused({"proposals", "approve", "p", "--kept"}), "--always"));
  CHECK(read({"proposals", "always"}).id.empty());
  CHECK(read({"proposals", "always", "--revoke", "p3"}).id == "p3");
  const auto no = read({"proposals", "deny", "p3", "--reason", "too risky"});
  CHECK(no.action == what::deny);
  CHECK(no.reason == "too risky");
  CHECK(read({"proposals", "deny", "p3", "too risky"}).reason == "too risky");
  CHECK(has(refused({"proposals", "deny", "p", "a", "--reason", "b"}), "REAS"));
  const auto edit = read({"proposals", "edit", "p4", "--arguments", "{}"});
  CHECK(edit.action == what::edit);
  CHECK(edit.arguments == "{}");
  CHECK_FALSE(read({"proposals", "edit", "p4"}).arguments);
  CHECK(has(refused({"proposals", "approve"}), "ID is required"));
  CHECK(has(refused({"proposals", "deny", "p", "--always"}), "--always"));
  CHECK(
      has(refused({"proposals", "approve", "p", "--reason", "x"}), "--reason"));
}

TEST_CASE("every subcommand takes the common options") {
  const std::vector<std::vector<std::string>> commands = {
      {"run", "t"},
      {"sessions", "list"},
      {"sessions", "show", "s"},
      {"sessions", "events", "s"},
      {"sessions", "resume", "s"},
      {"sessions", "output", "c"},
      {"sessions", "delete", "s"},
      {"sessions", "cancel", "s"},
      {"proposals", "list"},
      {"proposals", "show", "p"},
      {"proposals", "approve", "p"},
      {"proposals", "deny", "p"},
      {"proposals", "edit", "p"},
      {"tools", "list"},
      {"tools", "call", "read"},
      {"events", "check", "f"},
      {"config", "check"},
      {"config", "show"},
      {"config", "init"}};
  for (auto arguments : commands) {
    CAPTURE(arguments);
    for (const std::string x : {"--config", "c.toml", "--set", "a=1",
                                "--output", "json", "-v", "--no-color"}) {
      arguments.push_back(x);
    }
    const auto command = parse(arguments);
    std::visit(
        [](const auto& x) {
          if constexpr (requires { x.common; }) {
            CHECK(x.common.config == "c.toml");
            CHECK(x.common.sets == std::vector<std::string>{"a=1"});
            CHECK(x.common.output == output_kind::json);
            CHECK(x.common.level == verbosity::verbose);
            CHECK_FALSE(x.common.color);
          } else if constexpr (requires { x.each; }) {
            FAIL("a volley");
          } else {
            FAIL(x.err);
          }
        },
        command);
  }
}

TEST_CASE("events check takes a file") {
  CHECK(parsed<events_check_command>({"events", "check", "f"}).file == "f");
  CHECK(parsed<events_check_command>({"events", "check", "-"}).file == "-");
  CHECK_FALSE(
      parsed<events_check_command>({"events", "check", "f"}).allow_unfinished);
  CHECK(parsed<events_check_command>(
            {"events", "check", "f", "--allow-unfinished"})
            .allow_unfinished);
  CHECK(has(refused({"events", "check"}), "FILE is required"));
}

TEST_CASE("config has check and show") {
  using what = config_command::what;
  CHECK(parsed<config_command>({"config", "check"}).action == what::check);
  CHECK(parsed<config_command>({"config", "show"}).action == what::show);
}

TEST_CASE("help teaches with examples, for each subcommand") {
  for (const std::vector<std::string>& x :
       std::vector<std::vector<std::string>>{{"--help"},
                                             {"run", "--help"},
                                             {"run", "-h"},
                                             {"plan", "--help"},
                                             {"plan", "check", "--help"},
                                             {"sessions", "--help"},
                                             {"events", "--help"},
                                             {"config", "--help"},
                                             {"tools", "--help"},
                                             {"proposals", "--help"},
                                             {"proposals", "list", "--help"},
                                             {"proposals", "show", "--help"},
                                             {"proposals", "deny", "--help"},
                                             {"proposals", "approve", "--help"},
                                             {"proposals", "edit", "--help"},
                                             {"config", "trust", "--help"},
                                             {"tools", "list", "--help"},
                                             {"tools", "call", "--help"},
                                             {"sessions", "list", "--help"},
                                             {"sessions", "show", "--help"},
                                             {"sessions", "events", "--help"},
                                             {"sessions", "output", "--help"},
                                             {"sessions", "delete", "--help"},
                                             {"sessions", "cancel", "--help"},
                                             {"sessions", "resume", "--help"},
                                             {"events", "check", "--help"},
                                             {"config", "check", "--help"},
                                             {"config", "show", "--help"},
                                             {"init", "--help"},
                                             {"config", "init", "--help"}}) {
    CAPTURE(x);
    const auto help = parsed<leave_command>(x);
    CHECK((help.status == 0 && help.err.empty()));
    CHECK(has(help.out, "Examples:\n  "));
    std::istringstream lines{help.out};
    for (std::string line; std::getline(lines, line);)
      CHECK((columns_of(line) <= 80 || has(line, "demo.toml")));
  }
  const auto run = parsed<leave_command>({"run", "--help"});
  CHECK(has(run.out, "--approve"));
  CHECK(has(run.out, "Ctrl-C"));
  CHECK(has(parsed<leave_command>({"--help"}).out, "Exit status:"));
}

TEST_CASE("the version is the project's") {
  const auto x = parsed<leave_command>({"--version"});
  CHECK(x.status == 0);
  CHECK(x.out == "riffle " + std::string{version} + "\n");
  CHECK(std::ranges::count(version, '.') == 2);
}

TEST_CASE("tools, outputs, deletion and context arrive") {
  using tool = tools_command::what;
  using session = sessions_command::what;
  CHECK(parsed<tools_command>({"tools", "list"}).action == tool::list);
  const auto call = parsed<tools_command>({"tools", "call", "read", "{}"});
  CHECK(call.action == tool::call);
  CHECK(call.name == "read");
  CHECK(call.arguments == "{}");
  CHECK(parsed<tools_command>({"tools", "call", "x", "-"}).arguments == "-");
  CHECK(parsed<tools_command>({"tools", "call", "x"}).arguments == "{}");
  CHECK(has(refused({"tools", "call"}), "NAME is required"));
  const auto output = parsed<sessions_command>({"sessions", "output", "c1"});
  CHECK(output.action == session::output);
  CHECK(output.id == "c1");
  CHECK(parsed<sessions_command>({"sessions", "delete", "s"}).action ==
        session::remove);
  CHECK(parsed<run_command>({"run", "t", "--context", "x"}).context == "x");
  CHECK(parsed<run_command>({"run", "t", "--context-file", "f"}).context_file ==
        "f");
  CHECK(has(refused({"run", "t", "--context", "x", "--context-file", "f"}),
            "excludes"));
  const auto init = parsed<config_command>({"config", "init"});
  CHECK(init.action == config_command::what::init);
  CHECK(init.file == "riffle.toml");
  const auto trust = parsed<config_command>({"config", "trust"});
  CHECK(trust.action == config_command::what::trust);
  CHECK(trust.file == "riffle.toml");
  CHECK_FALSE((trust.yes || trust.list || trust.revoke));
  CHECK(parsed<config_command>({"config", "trust", "x", "--yes"}).yes);
  CHECK(parsed<config_command>({"config", "trust", "--list"}).list);
  CHECK(parsed<config_command>({"config", "trust", "--revoke"}).revoke);
  CHECK(has(refused({"config", "trust", "--list", "--revoke"}), "excludes"));
  CHECK_FALSE(init.force);
  const auto forced =
      parsed<config_command>({"config", "init", "f", "--force"});
  CHECK(forced.file == "f");
  CHECK(forced.force);
}

TEST_CASE("a word that is nearly right is answered by the right one") {
  CHECK(has(refused({"run", "t", "--sesion", "x"}), "did you mean --session?"));
  CHECK(
      has(refused({"run", "t", "--max-step=3"}), "did you mean --max-steps?"));
  CHECK(has(refused({"sesions"}),
            "there is no command \"sesions\"; did you mean sessions?"));
  CHECK(has(refused({"whatever"}), "there is no command \"whatever\"\n"));
  CHECK(has(refused({"sesions", "--help"}), "did you mean sessions?"));
  CHECK(has(refused({"sessions", "lst", "--help"}),
            "there is no command \"lst\"; did you mean list?"));
  CHECK(has(refused({"sessions"}), "A subcommand is required"));
  CHECK(has(refused({"sessions", "lst"}), "did you mean list?"));
  CHECK_FALSE(has(refused({"run", "t", "--entirely-else"}), "did you mean"));
}

TEST_CASE("the documents list the options of run, all and no others") {
  std::ifstream in{std::string{RIFFLE_SOURCE_DIR} + "/docs/command-line.md"};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  const auto begin = text.find("## Options of `riffle run`");
  REQUIRE(begin != std::string::npos);
  const auto section =
      text.substr(begin, text.find("\n## ", begin + 1) - begin);
  std::vector<std::string> listed;
  for (auto at = section.find("`--"); at != std::string::npos;
       at = section.find("`--", at + 1)) {
    const auto word = section.substr(at + 1);
    listed.push_back(word.substr(0, word.find_first_of(" `")));
  }
  auto known = option_names({"run"});
  std::erase(known, "--help");
  std::ranges::sort(known);
  std::ranges::sort(listed);
  CHECK(listed == known);
}
