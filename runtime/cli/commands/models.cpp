// SPDX-License-Identifier: MIT
// riffle models list|check|providers
#include <cstdlib>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/model_talk.hpp"
#include "runtime/cli/terminal/interrupts.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/listing.hpp"
#include "runtime/config/model_checks.hpp"
#include "runtime/config/providers.hpp"
#include "runtime/node/node.hpp"
#include "runtime/service/model_asking.hpp"

namespace riffle::cli {

namespace {

using nlohmann::ordered_json;

std::string key_text(const config::provider& x) {
  const auto& command = x.settings.api_key_command;
  const auto variables = config::key_variables(x.settings);
  if (!command.empty()) {
    std::string words;
    for (const auto& word : command) words += (words.empty() ? "" : " ") + word;
    return "key of '" + words + "'";
  }
  if (variables.empty()) return "needs no key";
  const char* value = std::getenv(variables.front().c_str());
  return "$" + variables.front() + (value && *value ? "" : " (not set)");
}

std::string provider_line(const config::provider& x) {
  constexpr std::size_t name_width = 12;
  constexpr std::size_t dialect_width = 11;
  auto out = x.name;
  out.resize(std::max(out.size() + 1, name_width), ' ');
  auto dialect = x.settings.dialect;
  dialect.resize(std::max(dialect.size() + 1, dialect_width), ' ');
  return out + dialect + key_text(x) + "\n";
}

ordered_json provider_json(const config::provider& x) {
  return {{"name", x.name},
          {"dialect", x.settings.dialect},
          {"base_url", x.settings.base_url},
          {"key_variables", config::key_variables(x.settings)},
          {"key_command", x.settings.api_key_command},
          {"keeps", x.keeps}};
}

/// What stands before the name of a model in `-m`.
std::string prefix_of(const std::string& name,
                      const config::model_config& model) {
  if (config::find_provider(name)) return name + "/";
  return config::provided_model(name) ? model.provider + "/" : "";
}

int list(const models_command& x, const config::config& settings,
         const config::model_config& model, model_talk& with, console& io) {
  const auto all = service::list_models(with.links, x.name, model);
  if (!all) {
    report(all.error(), io);
    return all.error().code == errc::invalid_config ? usage : failed;
  }
  const auto name =
      x.name.empty() ? settings.agents.at("default").model : x.name;
  const auto prefix = prefix_of(name, model);
  return write_list(
      *all, x.common, "the server has no models",
      [&](const std::string& id) { return prefix + safe_line(id, 200) + "\n"; },
      [&](const std::string& id) {
        return ordered_json{{"name", prefix + id}, {"id", id}};
      },
      io);
}

std::string line(const char* what, bool yes, const std::string& more) {
  constexpr std::size_t width = 12;
  std::string out = what;
  out.resize(width, ' ');
  return "  " + out + (yes ? "yes" : "no") +
         (more.empty() ? "" : ": " + safe_line(more, 500)) + "\n";
}

/// With the model that was asked, where the name does not say it.
std::string named(const std::string& name, const config::model_config& x) {
  if (x.model.empty() || name.ends_with(x.model)) return name;
  return name + " (" + x.model + ")";
}

int check(const models_command& x, const config::model_config& model,
          model_talk& with, console& io) {
  const auto found = service::check_model(with.links, x.name, model);
  if (!found) {
    report(found.error(), io);
    return usage;
  }
  io.out.write(x.common.output == output_kind::text
                   ? wrap_lines(model_report_text(named(x.name, model), *found),
                                io.out.columns())
                   : service::dump(service::to_json(x.name, *found)) + "\n");
  return found->works() && io.out.good() ? completed : failed;
}

}  // namespace

std::string model_report_text(const std::string& name,
                              const service::model_report& x) {
  auto out = name + "\n";
  out += line("answer", !x.failure,
              x.failure ? x.failure->message : short_duration(x.milliseconds));
  if (x.failure) return out;
  out += line("streaming", x.streamed,
              x.streamed ? "" : "the answer came as one document");
  out += line("tools", x.calls > 0,
              x.calls > 0           ? ""
              : !x.odd_call.empty() ? "it called " + x.odd_call
              : x.text.empty()      ? "it did not call the tool"
                                    : "it said: " + x.text);
  out += line("parallel", x.calls > 1,
              x.calls > 1 ? std::to_string(x.calls) + " calls in one answer"
                          : "asked for two calls at once");
  out += line("reasoning", x.reasoned,
              x.reasoned ? "" : "none was shown or counted");
  out += line("usage", x.usage.has_value(),
              x.usage ? short_count(x.usage->input_tokens) + " tokens in, " +
                            short_count(x.usage->output_tokens) + " out"
                      : "its tokens are estimated");
  return out;
}

int execute(const models_command& x, console& io) {
  using what = models_command::what;
  if (x.action == what::providers)
    return write_list(config::providers(), x.common, {}, provider_line,
                      provider_json, io);
  auto settings = load_config(x.common, config_use::acts, false, io);
  if (!settings) return usage;
  const auto model = service::find_server(*settings, x.name);
  if (!model) {
    report(model.error(), io);
    return usage;
  }
  if (!x.name.empty()) settings->models.emplace(x.name, *model);
  own_process(*settings);
  model_talk with{std::make_shared<const config::config>(*settings)};
  return x.action == what::list ? list(x, *settings, *model, with, io)
                                : check(x, *model, with, io);
}

}  // namespace riffle::cli
