// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/requests.hpp"

#include <filesystem>
#include <string_view>
#include <utility>

#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/commands/init.hpp"
#include "runtime/cli/terminal/approval_prompt.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/terminal/read_text.hpp"

namespace riffle::cli {

namespace {

bool is_stdin(const std::optional<std::filesystem::path>& file) {
  return file && *file == "-";
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto x = first_character(text);
    if (!x.valid || x.code == 0) return false;
    text.remove_prefix(x.size);
  }
  return true;
}

}  // namespace

bool takes_stdin(const run_command& x) {
  return x.task == "-" || is_stdin(x.context_file) ||
         (x.reads_stdin && stdin_is_given());
}

expected<run_request> said_with(const run_command& x, std::string task) {
  auto out = request_of(x, std::move(task));
  out.session = {};  // what was typed may be a part of its id
  if (x.context_file) {
    auto context = is_stdin(x.context_file)
                       ? read_stdin("context")
                       : read_file(*x.context_file, "context");
    if (!context) return unexpected{std::move(context.error())};
    out.context = std::move(*context);
  }
  if (x.schema_file) {
    auto schema = read_file(*x.schema_file, "schema");
    if (!schema) return unexpected{std::move(schema.error())};
    out.response_schema = std::move(*schema);
  }
  return out;
}

expected<std::string> given_input(const run_command& x, console& io) {
  if (!x.reads_stdin || x.task == "-" || is_stdin(x.context_file)) return {};
  bool silent = false;
  auto given = read_given_stdin(silent);
  if (!given) return given;
  const bool told = x.common.output == output_kind::text &&
                    x.common.level != verbosity::quiet;
  if (silent && told)
    io.err.write(
        "Standard input said nothing for 2 s and is not waited for "
        "(--no-stdin does not wait).\n");
  if (trimmed(*given).empty()) return {};
  if (told)
    io.err.write(
        "Standard input goes to the model: " + size_text(given->size()) +
        (is_utf8(*given) ? "\n"
                         : ", of which what is no text (UTF-8) is "
                           "replaced\n"));
  return "What came on standard input:\n" + *given;
}

void add_to_context(std::string& context, const std::string& text) {
  if (text.empty()) return;
  context += (context.empty() ? "" : "\n\n") + text;
}

expected<void> request_maker::complete(run_request& x,
                                       const std::optional<std::string>& named,
                                       const std::optional<std::string>& agent,
                                       bool goes_on) {
  auto session = sessions_.for_task(named, goes_on);
  if (!session) return unexpected{std::move(session.error())};
  x.session = std::move(*session);
  if (x.session) {
    const auto& use = sessions_.use_of(*x.session, {agent, x.model});
    x.agent = use.agent;
    x.model = use.model;
    gone_.insert(use.gone.begin(), use.gone.end());
  }
  for (const auto& known :
       {check_agent(x.agent, settings_), choose_model(x.model, settings_)})
    if (!known) return known;
  return check_attachments(x, settings_);
}

const std::string& request_maker::surroundings(const std::string& agent) {
  const auto [place, is_new] = surroundings_.try_emplace(agent);
  if (is_new) place->second = surroundings_of(agent, settings_).text;
  return place->second;
}

std::optional<unique_fd> keyboard_for(const resume_options& choices,
                                      bool stdin_is_taken) {
  if (choices.approval.value_or(approve::ask) != approve::ask)
    return std::nullopt;
  return open_keyboard(stdin_is_taken);
}

void tell_fresh(const std::map<std::string, std::string>& fresh,
                const common_options& options, console& io) {
  constexpr std::size_t most = 5;
  if (options.level == verbosity::quiet) return;
  std::size_t told = 0;
  for (const auto& [name, near] : fresh) {
    if (near.empty() && !io.err.is_terminal()) continue;
    if (++told > most) return;
    io.complain("new session `" + name + "`" +
                (near.empty() ? "" : "; did you mean `" + near + "`?"));
  }
}

void tell_gone(const request_maker& of, const common_options& options,
               console& io) {
  if (options.level == verbosity::quiet) return;
  tell_fresh(of.fresh(), options, io);
  for (const auto& x : of.gone()) io.complain(x);
}

approve approval_for(const resume_options& choices,
                     const config::config& settings, bool person) {
  if (choices.approval) return *choices.approval;
  const bool proposes = settings.approvals.mode == "propose";
  return person || proposes ? approve::ask : approve::nobody;
}

int not_started(const error& why, const config::config& settings, console& io) {
  const int status = report(why, io);
  point_to_init(settings, why, io);
  return status;
}

}  // namespace riffle::cli
