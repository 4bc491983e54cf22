// SPDX-License-Identifier: MIT
// riffle init
#include "runtime/cli/commands/init.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "runtime/base/secrets.hpp"
#include "runtime/cli/commands/model_talk.hpp"
#include "runtime/cli/commands/new_file.hpp"
#include "runtime/cli/terminal/approval_prompt.hpp"
#include "runtime/cli/terminal/confirm.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/init_text.hpp"
#include "runtime/config/home.hpp"
#include "runtime/config/providers.hpp"
#include "runtime/config/source.hpp"
#include "runtime/node/node.hpp"
#include "runtime/service/first_model.hpp"
#include "runtime/service/views.hpp"

namespace riffle::cli {

namespace {

namespace fs = std::filesystem;
using service::usable_provider;

constexpr std::size_t most_shown = 15;

struct first_steps {
  const init_command& command;
  std::optional<unique_fd> keyboard;
  console& io;

  [[nodiscard]] bool speaks() const {
    return command.common.level != verbosity::quiet;
  }
};

/// Of some names, the one that the person means. Nothing: nobody answers any
/// more.
std::optional<std::string> choose(const std::string& question,
                                  std::vector<std::string> names,
                                  first_steps& x) {
  for (;;) {
    x.io.err.write(numbered(names, most_shown));
    const auto typed = ask_text(
        question + " [1] > ", x.keyboard->get(), [] { return false; }, x.io);
    if (!typed) return std::nullopt;
    auto meant = meant_by(*typed, names);
    if (meant.size() == 1) return meant.front();
    if (meant.empty())
      x.io.err.write("None of them is called like that.\n");
    else
      names = std::move(meant);
  }
}

/// What the options say, or null, which was said.
const usable_provider* named(const std::vector<usable_provider>& all,
                             const std::string& name, console& io) {
  const auto found = std::ranges::find(all, name, &usable_provider::name);
  if (found != all.end()) return &*found;
  const auto* known = config::find_provider(name);
  const auto missing = known ? service::missing_variables(known->settings)
                             : std::vector<std::string>{};
  if (!known)
    io.complain("there is no provider \"" + safe_line(name, 100) +
                "\"; 'riffle models providers' lists them");
  else if (!missing.empty())
    io.complain(name + " needs what is not set: $" + missing.front() +
                (missing.size() > 1 ? ", $" + missing[1] : ""));
  else if (!known->settings.api_key_command.empty())
    io.complain(name +
                " has a key of a command; write its table by hand: "
                "'riffle config init' explains it");
  else
    io.complain("no server of " + name + " answers at " +
                known->settings.base_url);
  return nullptr;
}

const usable_provider* choose_provider(const std::vector<usable_provider>& all,
                                       first_steps& x) {
  if (!x.command.provider.empty()) return named(all, x.command.provider, x.io);
  if (all.empty()) {
    x.io.complain(no_provider_text(service::wanted_keys()));
    return nullptr;
  }
  std::vector<std::string> texts;
  for (const auto& one : all) texts.push_back(provider_text(one));
  if (all.size() == 1) {
    if (x.speaks()) x.io.err.write("Found: " + texts.front() + "\n");
    return all.data();
  }
  if (!x.keyboard) {
    x.io.complain(
        "there is no terminal to ask at, and several can be used: "
        "--provider NAME takes one\n" +
        numbered(texts, texts.size()));
    return nullptr;
  }
  const auto text = choose("Which one?", texts, x);
  if (!text) return nullptr;
  return &all[static_cast<std::size_t>(std::ranges::find(texts, *text) -
                                       texts.begin())];
}

/// Nothing: none was chosen, and why was said.
std::optional<std::string> choose_model(const usable_provider& from,
                                        model_talk& with, first_steps& x) {
  if (!x.command.model.empty()) return x.command.model;
  auto names = from.models;
  if (names.empty()) {
    auto listed = service::list_models(with.links, from.name, from.settings);
    if (!listed) {
      report(listed.error(), x.io);
      return std::nullopt;
    }
    names = std::move(*listed);
  }
  if (names.empty()) {
    x.io.complain(from.name + " has no model" +
                  (from.name == "ollama" ? ": ollama pull qwen3" : ""));
    return std::nullopt;
  }
  if (!x.keyboard) {
    x.io.complain("there is no terminal to ask at: --model NAME takes one\n" +
                  numbered(names, most_shown));
    return std::nullopt;
  }
  return choose("Which model?", std::move(names), x);
}

/// Where it is written to.
expected<fs::path> target_of(const init_command& x) {
  if (x.here) return fs::path{"riffle.toml"};
  return config::user_folder("XDG_CONFIG_HOME", "~/.config")
      .map([](const fs::path& folder) {
        return folder / "riffle" / "riffle.toml";
      });
}

/// The file that is to be written.
struct target {
  fs::path file;
  bool grows = false;                          ///< it is there already
  std::string text{};                          ///< that it has, and keeps
  std::map<std::string, std::string> there{};  ///< keys of that text
};

/// Nothing: it is there, and must stay as it is, which was said. One of the
/// person's own that says nothing of models (`riffle mcp add` came first) gets
/// them; a stranger's of this folder never.
std::optional<target> free_target(const fs::path& file, const first_steps& x) {
  std::error_code ignored;
  target out{file};
  if (x.command.force || !fs::exists(file, ignored)) return out;
  if (!x.command.here) {
    const auto from = config::read_source(config::source{file, {}});
    if (!from) {
      report({from.error()}, x.io);
      return std::nullopt;
    }
    const auto made = config::load({}, *from);
    if (!made) {
      report(made.error(), x.io);
      return std::nullopt;
    }
    if (names_no_model(made->origins)) {
      out.grows = true;
      out.text = from->text;
      out.there = made->origins;
      return out;
    }
  }
  x.io.complain("\"" + file.string() + "\" is there already" +
                (x.command.here ? "" : " and names a model") +
                "; --force replaces it");
  return std::nullopt;
}

int write(const target& to, const std::string& fresh, first_steps& x) {
  const auto& file = to.file;
  auto text = to.text;
  if (!text.empty()) text += text.ends_with('\n') ? "\n" : "\n\n";
  text += fresh;
  // An address of the environment may be none.
  if (const auto made = config::load({}, config::source{file, text}); !made)
    return report(made.error(), x.io);
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  const int status =
      write_new_file(file, text, x.command.force || to.grows, x.io);
  if (status != completed) return status;
  if (x.command.here) trust_what_is_written(file, text);
  if (!x.speaks()) return completed;
  x.io.err.write((to.grows ? "Added to " : "Written to ") + file.string() +
                 ":\n\n" + fresh + "\n");
  const auto counts = config::find_source({x.command.common.config, {}, {}});
  if (counts && !counts->file.empty() &&
      fs::absolute(counts->file, ignored) != fs::absolute(file, ignored))
    x.io.complain("in this folder " + counts->file.string() +
                  " counts instead of it");
  return completed;
}

/// One request, and what it shows.
int try_it(const fs::path& file, const usable_provider& from,
           const config::model_config& model, model_talk& with,
           first_steps& x) {
  if (x.speaks()) x.io.err.write("One request to try it …\n");
  const auto found = service::check_model(with.links, "default", model);
  if (!found) return report(found.error(), x.io);
  const auto name = from.name + "/" + model.model;
  if (x.command.common.output != output_kind::text) {
    nlohmann::ordered_json out{{"file", file.string()},
                               {"provider", from.name},
                               {"model", model.model},
                               {"check", service::to_json(name, *found)}};
    x.io.out.write(service::dump(out) + "\n");
  } else if (x.speaks()) {
    x.io.err.write(
        wrap_lines(model_report_text(name, *found), x.io.err.columns()));
  }
  if (found->works()) {
    if (x.speaks())
      x.io.err.write(
          "It works. Next: riffle, or riffle run \"What is in this "
          "folder?\"\n");
    return x.io.out.good() ? completed : failed;
  }
  x.io.complain(
      name +
      (found->failure ? " did not answer"
                      : " answered, but called no tool: an agent needs "
                        "a model that does") +
      "; 'riffle init --force' takes another one, 'riffle models check "
      "default' tries this one again");
  return failed;
}

}  // namespace

int take_first_steps(const common_options& options,
                     const std::optional<std::string>& model, console& io) {
  if (model || options.config || !options.sets.empty()) return completed;
  if (read_key(config::model_config{}.api_key_env)) return completed;
  auto found = config::find_source({{}, {}, {}});
  if (!found || found->found_in_folder) return completed;
  if (!found->file.empty()) {
    const auto own = target_of(init_command{});
    if (!own || found->file != *own) return completed;
    const auto from = config::read_source(std::move(*found));
    if (!from) return completed;  // whoever loads it says what is wrong
    const auto made = config::load({}, *from);
    if (!made || !names_no_model(made->origins)) return completed;
  }
  init_command first;
  first.common = options;
  return execute(first, io);
}

void point_to_init(const config::config& settings, const error& x,
                   console& io) {
  const bool left_open =
      settings.file.empty() || names_no_model(settings.origins);
  if (!left_open || x.code != errc::invalid_config) return;
  const auto found = config::find_source({});
  const bool of_folder =
      found && found->found_in_folder && found->file == settings.file;
  if (!of_folder)
    return io.complain(
        "'riffle init' looks for keys and for servers on this machine, "
        "and writes a configuration");
  const auto own = config::find_own_source({});
  const bool hides = own && !own->file.empty();
  io.complain("riffle.toml of this folder names no model" +
              (hides
                   ? ", and takes the place of " +
                         safe_line(own->file.string(), 4096) + ": remove it, or"
                   : std::string{":"}) +
              " let 'riffle init --here --force' write it anew");
}

std::string init_hint(const config::config& settings) {
  const auto model = settings.models.find("default");
  if (model == settings.models.end() || !names_no_model(settings.origins))
    return {};
  const auto* known = config::provider_of(model->second);
  if (known == nullptr || service::place_in_environment(*known).empty())
    return {};
  return "The server is the one in $" + service::place_variable(*known) +
         ": riffle init chooses among its models.";
}

int execute(const init_command& command, console& io) {
  first_steps x{command, open_keyboard(false), io};
  const auto file = target_of(command);
  if (!file) return report(file.error(), io);
  const auto to = free_target(*file, x);
  if (!to) return usage;
  if (x.speaks())
    io.err.write(
        "Looking for keys of providers, and for model servers on this "
        "machine …\n");
  const auto all = service::usable_providers();
  const auto* provider = choose_provider(all, x);
  if (!provider) return usage;

  config::config settings;
  settings.models = {{"default", provider->settings}};
  own_process(settings);
  model_talk with{std::make_shared<const config::config>(settings)};
  const auto model = choose_model(*provider, with, x);
  if (!model) return failed;
  auto chosen = provider->settings;
  chosen.model = *model;
  const int status = write(*to, first_config(*provider, *model, to->there), x);
  return status == completed ? try_it(*file, *provider, chosen, with, x)
                             : status;
}

}  // namespace riffle::cli
