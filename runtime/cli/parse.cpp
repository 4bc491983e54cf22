// SPDX-License-Identifier: MIT
// The program's options. Its subcommands: parse_run.cpp, parse_commands.cpp.
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

/// Of every option and argument of every command, so that "" is never taken
/// for "none given": `sessions delete "$ID"` must not mean the newest one. Text
/// may be empty, and who takes tasks and keys says more about them.
void refuse_empty(CLI::App& command) {
  const CLI::Validator not_empty{[](const std::string& text) -> std::string {
                                   return text.empty() ? "must not be empty"
                                                       : "";
                                 },
                                 ""};
  constexpr std::array<std::string_view, 6> told = {
      "context", "reason", "REASON", "set", "TASK", "COMMAND"};
  for (auto* x : command.get_options())
    if (std::ranges::find(told, x->get_single_name()) == told.end())
      x->check(not_empty);
  for (auto* x : command.get_subcommands([](CLI::App*) { return true; }))
    refuse_empty(*x);
}

}  // namespace

parser::parser() {
  app.set_version_flag("--version", "riffle " + std::string{version});
  app.require_subcommand(1);
  app.footer(std::string{help::main} + demo_text() + "\n\n" + help::main_end);
  add_run();
  add_chat();
  add_plan();
  add_sessions();
  add_proposals();
  add_tools();
  add_models();
  add_events();
  add_config();
  add_init();
  add_serve();
  add_node();
  add_nodes();
  add_cluster();
  add_mcp();
  add_completion();
  refuse_empty(app);
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
  auto* color =
      x.add_option("--color", raw.color,
                   "Colours on standard error: where a terminal shows them and "
                   "$NO_COLOR is not set (auto), always, or never")
          ->type_name("auto|always|never")
          ->check(CLI::IsMember({"auto", "always", "never"}));
  x.add_option("--theme", common.theme,
               "Colours for this background; auto asks $COLORFGBG, and takes "
               "a dark one")
      ->type_name("auto|dark|light")
      ->check(CLI::IsMember({"auto", "dark", "light"}));
  x.add_flag("--no-color", raw.no_color, "The same as --color=never")
      ->excludes(color);
}

common_options parser::finish_common() const {
  auto out = common;
  if (!raw.config.empty()) out.config = raw.config;
  if (raw.output == "json") out.output = output_kind::json;
  if (raw.output == "jsonl") out.output = output_kind::jsonl;
  if (raw.quiet) out.level = verbosity::quiet;
  if (raw.verbose) out.level = verbosity::verbose;
  out.color = !raw.no_color && raw.color != "never";
  out.color_always = raw.color == "always";
  if (raw.insecure) out.sets.emplace_back("cluster.insecure=true");
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

/// "-v", of a command.
bool has_short(const CLI::App& app, const std::string& x) {
  return x.size() == 2 && x[0] == '-' &&
         std::ranges::any_of(app.get_options(), [&](const CLI::Option* one) {
           return is_in(one->get_snames(), x.substr(1));
         });
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

/// An option in front of the command that it is of; else nothing.
std::string misplaced(const CLI::App& at, const CLI::ParseError& e,
                      const std::vector<std::string>& arguments) {
  const auto unexpected = " " + std::string{e.what()} + " ";
  const auto known = words_of(at);
  for (const auto& x : arguments)
    if (((x.starts_with("--") && is_in(known, x)) || has_short(at, x)) &&
        unexpected.find(" " + x + " ") != unexpected.npos)
      return x + " stands behind the command that it is of: riffle … " +
             at.get_name() + " " + x;
  return {};
}

/// What is wrong; a word in the place of a command is named.
std::string mistake_text(const CLI::App& app, const CLI::ParseError& e,
                         const std::vector<std::string>& arguments) {
  const auto& at = reached(app);
  const bool wants_command = at.get_require_subcommand_min() > 0;
  // Where a command may stand, and need not, a word may as well be its own.
  const auto extra = static_cast<int>(CLI::ExitCodes::ExtrasError);
  if (!wants_command && e.get_exit_code() != extra) return e.what();
  if (e.get_exit_code() == extra)
    if (auto text = misplaced(at, e, arguments); !text.empty()) return text;
  if (at.get_subcommands({}).empty()) return e.what();
  const auto known = words_of(at);
  for (const auto& x : arguments) {
    const auto word = x.substr(0, x.find('='));
    if (word.size() > 2 && word.starts_with("--") && !is_in(known, word))
      return "there is no option " + word + " here";
  }
  if (!wants_command) return e.what();
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

/// Calls `f(argument, is_option)` for what is no value of an option.
template <class F>
void each_word(const CLI::App& app, std::vector<std::string>& arguments, F f) {
  std::set<std::string> options;
  add_value_options(app, options);
  bool only_words = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    auto& x = arguments[i];
    if (!only_words && x == "--") {
      only_words = true;
      continue;
    }
    const bool option = !only_words && x.starts_with("--");
    if (option && x.find('=') == std::string::npos && options.contains(x)) ++i;
    f(x, option);
  }
}

/// The library takes "--session= a b" for "--session a b": the word behind an
/// empty value would be swallowed. The option that is given so, or "".
std::string empty_value(const CLI::App& app,
                        std::vector<std::string> arguments) {
  std::string out;
  each_word(app, arguments, [&](const std::string& x, bool option) {
    const auto equals = x.find('=');
    if (out.empty() && option && equals + 1 == x.size())
      out = x.substr(0, equals);
  });
  return out;
}

/// See `list_guard`.
void guard_lists(const CLI::App& app, std::vector<std::string>& arguments) {
  std::size_t words = 0;
  bool run = false;
  each_word(app, arguments, [&](std::string& x, bool option) {
    if (option) return;
    if (words++ == 0) run = x == "run";
    if (run && x.starts_with('[')) x.insert(x.begin(), list_guard);
  });
}

/// Help was asked for about a command that there is not.
bool names_no_command(const CLI::App& app,
                      const std::vector<std::string>& arguments) {
  const auto& at = reached(app);
  if (at.get_require_subcommand_min() == 0) return false;
  const auto* above = at.get_parent();
  bool reached_it = above == nullptr;
  for (const auto& x : arguments) {
    if (x.starts_with('-')) continue;
    if (reached_it) return true;
    reached_it = x == at.get_name();
  }
  return false;
}

/// Options of a conversation, and no command: 'riffle -m X' is 'riffle chat
/// -m X'.
bool begins_chat(const CLI::App& app,
                 const std::vector<std::string>& arguments) {
  if (arguments.empty() || !arguments.front().starts_with('-')) return false;
  const auto known = words_of(app);
  const auto& chat = *app.get_subcommand("chat");
  const auto of_chat = words_of(chat);
  bool found = false;
  for (const auto& x : arguments) {
    const auto name = x.substr(0, x.find('='));
    if (x == "--" || (!x.starts_with('-') && is_in(known, x))) return false;
    const bool of_all = is_in(known, name) || has_short(app, name);
    found =
        found || (!of_all && (is_in(of_chat, name) || has_short(chat, name)));
  }
  return found;
}

leave_command explain(const parser& p, const CLI::ParseError& e,
                      const std::vector<std::string>& arguments) {
  leave_command out;
  out.status = usage_error;
  out.err = "riffle: " + mistake_text(p.app, e, arguments) +
            suggestion(p.app, arguments) + "\nSee: " + help_of(p.app) + "\n";
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
  if (begins_chat(p.app, arguments))
    arguments.insert(arguments.begin(), "chat");
  guard_lists(p.app, arguments);
  auto reversed = arguments;
  std::ranges::reverse(reversed);
  if (const auto name = empty_value(p.app, arguments); !name.empty())
    return leave_command{usage_error, "",
                         "riffle: " + name +
                             ": nothing stands behind \"=\"\nSee: riffle "
                             "--help\n"};
  p.tasks_are_several = is_in(arguments, "--");
  try {
    p.app.parse(std::move(reversed));
    return p.result;
  } catch (const CLI::CallForHelp& e) {
    if (names_no_command(p.app, arguments)) return explain(p, e, arguments);
    return leave_command{0, wrapped(p.app.help()), ""};
  } catch (const CLI::CallForVersion& e) {
    return leave_command{0, std::string{e.what()} + "\n", ""};
  } catch (const CLI::ParseError& e) {
    return explain(p, e, arguments);
  }
}

}  // namespace riffle::cli
