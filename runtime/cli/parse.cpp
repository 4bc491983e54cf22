// SPDX-License-Identifier: MIT
// The program's options, and `run`. The other subcommands: parse_commands.cpp.
#include "runtime/cli/parse.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "messages/duration_text.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/cli.hpp"
#include "runtime/cli/help.hpp"
#include "runtime/cli/parser.hpp"
#include "runtime/config/config.hpp"

namespace riffle::cli {

namespace {

constexpr int usage_error = 2;

/// In the contract, but not built.
constexpr std::array<std::string_view, 5> later_options = {
    "--workers", "--max-retries", "--fail-fast", "--tasks-file", "--no-token"};
constexpr std::array<std::string_view, 3> later_commands = {"plan", "serve",
                                                            "node"};

std::string check_duration(const std::string& text) {
  const auto x = parse_duration(text);
  if (x && x->count() > 0) return {};
  return "\"" + text + "\" is not a duration such as 30s, 5m or 1.5h";
}

}  // namespace

namespace {

/// How to see it work without a key: where it is installed, or built, there is
/// a configuration for that.
std::string demo_text() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const auto here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const auto* place : {"../share/riffle", "../../configs"}) {
    const auto file = (here / place / "demo.toml").lexically_normal();
    if (fs::exists(file, ignored))
      return " Without a network:\n  riffle run --config '" + file.string() +
             "' \"What is here?\"";
  }
  return {};
}

/// Descriptions of options that are too long go on below their beginning.
std::string wrapped(const std::string& text) {
  constexpr std::size_t most = 80;
  std::string out;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) {
    const auto gap = line.rfind("  ");
    const auto indent = gap == std::string::npos ? 0 : gap + 2;
    const bool described = indent >= most / 4 && indent <= most / 2;
    while (line.size() > most && described) {
      const auto end = line.rfind(' ', most);
      if (end == std::string::npos || end <= indent) break;
      out.append(line, 0, end).append("\n");
      line = std::string(indent, ' ') + line.substr(end + 1);
    }
    out += line + "\n";
  }
  return out;
}

}  // namespace

CLI::Validator not_empty() {
  return CLI::Validator{[](const std::string& text) -> std::string {
                          return text.empty() ? "must not be empty" : "";
                        },
                        ""};
}

parser::parser() {
  app.set_version_flag("--version", "riffle " + std::string{version});
  app.require_subcommand(1);
  app.footer(std::string{help::main} + demo_text() + "\n\n" + help::main_end);
  add_run();
  add_sessions();
  add_proposals();
  add_tools();
  add_events();
  add_config();
}

void parser::add_common(CLI::App& x) {
  x.add_option("--config", raw.config, "Configuration file")
      ->type_name("FILE")
      ->check(not_empty());
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
      ->type_name("ID")
      ->check(not_empty());
  x->add_option("--agent", run.agent, "An agent of the configuration")
      ->type_name("NAME")
      ->check(not_empty());
  auto* context = x->add_option("--context", run.context,
                                "What the model is told beside the task")
                      ->type_name("TEXT");
  x->add_option("--context-file", raw.context_file,
                "The same, from a file (at most 8 MiB)")
      ->type_name("FILE")
      ->check(not_empty())
      ->excludes(context);
  add_choices(*x);
  add_common(*x);
  x->final_callback([this] { finish_run(); });
}

void parser::add_choices(CLI::App& x) {
  x.add_option("--model", raw.model,
               "A model of the configuration, instead of the agent's")
      ->type_name("NAME")
      ->check(not_empty());
  x.add_option("--max-steps", raw.max_steps, "Most model calls")
      ->type_name("N")
      ->check(CLI::Range(1u, 1'000'000u));
  x.add_option("--timeout", raw.timeout, "Longest time for the whole run")
      ->type_name("DURATION")
      ->check(CLI::Validator{check_duration, ""});
  x.add_option("--approve", raw.approval,
               "Calls that need approval: ask at the terminal (the default "
               "there), approve all, or none (the default without one)")
      ->type_name("ask|all|none")
      ->check(CLI::IsMember({"ask", "all", "none"}));
  x.add_flag("--show-reasoning", raw.reasoning,
             "Also what the model thinks, on standard error");
  x.add_flag("--stats", raw.stats,
             "At the end: tokens, cost, time of tools, retries");
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
  if (!raw.context_file.empty()) run.context_file = raw.context_file;
  run.choices = finish_choices();
  run.show = {raw.reasoning, raw.stats};
  result = run;
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

namespace {

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

const CLI::App& reached(const CLI::App& app) {
  const auto* x = &app;
  while (!x->get_subcommands().empty()) x = x->get_subcommands().front();
  return *x;
}

/// Options and subcommands of a command.
std::vector<std::string> words_of(const CLI::App& app) {
  std::vector<std::string> out;
  for (const auto* x : app.get_options()) {
    for (const auto& name : x->get_lnames()) out.push_back("--" + name);
  }
  for (const auto* x : app.get_subcommands({})) out.push_back(x->get_name());
  return out;
}

/// "; did you mean …?" for the first word that is close to one that there is.
std::string suggestion(const CLI::App& app,
                       const std::vector<std::string>& arguments) {
  const auto& at = reached(app);
  const auto known = words_of(at);
  const bool wants_command = !at.get_subcommands({}).empty();
  for (const auto& x : arguments) {
    if (x == "--") break;
    const auto word = x.substr(0, x.find('='));
    const bool passed = at.get_name() == word || is_in(known, word) ||
                        (at.get_parent() && is_in(words_of(app), word));
    if (passed || (!word.starts_with("--") && !wants_command)) continue;
    const auto near = nearest(word, known);
    if (!near.empty()) return "; did you mean " + near + "?";
  }
  return {};
}

/// What is wrong; a word in the place of a command is named.
std::string mistake_text(const CLI::App& app, const CLI::ParseError& e,
                         const std::vector<std::string>& arguments) {
  const auto& at = reached(app);
  if (at.get_subcommands({}).empty()) return e.what();
  for (const auto& x : arguments) {
    const bool passed = at.get_name() == x || x.starts_with("-");
    if (!passed) return "there is no command \"" + x + "\"";
  }
  return e.what();
}

/// All options of all commands that take a value, as "--name".
void add_value_options(const CLI::App& app, std::set<std::string>& out) {
  for (const auto* x : app.get_options())
    if (x->get_items_expected_max() > 0)
      for (const auto& name : x->get_lnames()) out.insert("--" + name);
  for (const auto* x : app.get_subcommands({})) add_value_options(*x, out);
}

/// The library takes "--session= a b" for "--session a b": the word behind an
/// empty value would be swallowed. The option that is given so, or "".
std::string empty_value(const CLI::App& app,
                        const std::vector<std::string>& arguments) {
  std::set<std::string> options;
  add_value_options(app, options);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& x = arguments[i];
    if (x == "--") break;
    if (!x.starts_with("--")) continue;
    const auto equals = x.find('=');
    if (equals + 1 == x.size()) return x.substr(0, equals);
    const bool value_follows =
        equals == std::string::npos && options.contains(x);
    if (value_follows) ++i;
  }
  return {};
}

leave_command explain(const parser& p, const CLI::ParseError& e,
                      const std::vector<std::string>& arguments) {
  leave_command out;
  out.status = usage_error;
  const auto later = later_word(arguments);
  out.err = "riffle: " +
            (later.empty() ? mistake_text(p.app, e, arguments) +
                                 suggestion(p.app, arguments)
                           : later + " is not supported by this version") +
            "\nSee: " + help_of(p.app) + "\n";
  return out;
}

}  // namespace

std::vector<std::string> option_names(const std::vector<std::string>& path) {
  const parser p;
  const auto* x = &p.app;
  for (const auto& name : path) x = x->get_subcommand(name);
  std::vector<std::string> out;
  for (const auto& word : words_of(*x)) {
    if (word.starts_with("--")) out.push_back(word);
  }
  return out;
}

command parse(std::vector<std::string> arguments) {
  parser p;
  auto reversed = arguments;
  std::ranges::reverse(reversed);
  if (const auto name = empty_value(p.app, arguments); !name.empty())
    return leave_command{usage_error, "",
                         "riffle: " + name +
                             ": nothing stands behind \"=\"\nSee: riffle "
                             "--help\n"};
  try {
    p.app.parse(std::move(reversed));
    return p.result;
  } catch (const CLI::CallForHelp&) {
    return leave_command{0, wrapped(p.app.help()), ""};
  } catch (const CLI::CallForVersion& e) {
    return leave_command{0, std::string{e.what()} + "\n", ""};
  } catch (const CLI::ParseError& e) {
    return explain(p, e, arguments);
  }
}

}  // namespace riffle::cli
