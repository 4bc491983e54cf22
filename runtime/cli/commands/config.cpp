// SPDX-License-Identifier: MIT
// riffle config check|show|init; trust: config_trust.cpp
#include <nlohmann/json.hpp>

#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/new_file.hpp"
#include "runtime/cli/view/config_text.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/trust_text.hpp"
#include "runtime/config/rule_warnings.hpp"
#include "runtime/config/trust.hpp"

namespace riffle::cli {

namespace {

std::string name_of(const config::config& x) {
  return x.file.empty() ? "built-in defaults" : x.file.string();
}

int check(const config_command& x, const config::config& settings,
          const config::trust_state& judged, console& io) {
  const auto warnings = config::rule_warnings(settings);
  if (x.common.output == output_kind::text) {
    for (const auto& text : warnings)
      io.complain("warning: " + name_of(settings) + ": " + exact_line(text));
    io.out.write(name_of(settings) + ": no mistakes\n");
  } else {
    const nlohmann::ordered_json out = {{"file", name_of(settings)},
                                        {"mistakes", 0},
                                        {"trusted", judged.trusted},
                                        {"warnings", warnings}};
    io.out.write(out.dump() + "\n");
  }
  return io.out.good() ? completed : failed;
}

int show(const config_command& x, const config::config& settings, console& io) {
  const auto all = sourced_settings(settings);
  switch (x.common.output) {
    case output_kind::text:
      io.out.write("# " + name_of(settings) + "\n" + to_toml(all));
      break;
    case output_kind::json: io.out.write(to_json(all) + "\n"); break;
    case output_kind::jsonl: io.out.write(to_json_lines(all)); break;
  }
  return io.out.good() ? completed : failed;
}

int init(const config_command& x, console& io) {
  const auto text = commented_defaults();
  const int status = write_new_file(x.file, text, x.force, io);
  if (status != completed) return status;
  trust_what_is_written(x.file, text);
  if (x.common.output == output_kind::text) {
    if (x.common.level != verbosity::quiet) {
      io.complain("\"" + x.file.string() +
                  "\" is written; take the \"#\" from what you change, "
                  "then run 'riffle config check', and 'riffle config trust' "
                  "so that it counts");
    }
  } else {
    io.out.write(nlohmann::json{{"file", x.file.string()}}.dump() + "\n");
  }
  return completed;
}

}  // namespace

int execute(const config_command& x, console& io) {
  using what = config_command::what;
  if (x.action == what::init) return init(x, io);
  if (x.action == what::trust) return execute_trust(x, io);
  // Nothing is started, so nothing needs trust; what lacks it is said.
  const config::load_request request{x.common.config, x.common.sets,
                                     config::builtin_tools(), std::nullopt};
  const auto from = find_source(request).and_then(config::read_source);
  if (!from) return report({from.error()}, io);
  const auto settings = load(request, *from);
  if (!settings) return report(settings.error(), io);
  const auto judged = judge_trust(*from);
  if (!judged) return report(judged.error(), io);
  const int status = x.action == what::show ? show(x, *settings, io)
                                            : check(x, *settings, *judged, io);
  if (!judged->trusted && x.common.level != verbosity::quiet)
    io.complain(name_of(*settings) + " " + trust_problem(*judged));
  return status;
}

}  // namespace riffle::cli
