// SPDX-License-Identifier: MIT
#include "runtime/cli/help.hpp"
#include "runtime/cli/parser.hpp"

namespace riffle::cli {

void parser::add_plan() {
  auto* x = app.add_subcommand("plan", "Execute a plan, step by step");
  x->require_subcommand(0, 1);
  x->footer(help::plan);
  const auto add_file = [&](CLI::App& to) {
    return to.add_option("FILE", plan.file,
                         "The plan, TOML or JSON; '-' reads standard input");
  };
  add_file(*x);
  x->add_option("--session", raw.session,
                "The session of the steps' runs (default: a new one)")
      ->type_name("ID");
  const auto add_agent = [&](CLI::App& to) {
    to.add_option("--agent", plan.agent, "An agent of the configuration")
        ->type_name("NAME");
  };
  add_agent(*x);
  x->add_option("--context", plan.context,
                "What the model is told beside each instruction")
      ->type_name("TEXT");
  add_choices(*x);
  add_common(*x);
  auto* check = x->add_subcommand("check", "Tell all mistakes, start nothing");
  check->footer(help::plan);
  add_file(*check)->required();
  add_agent(*check);
  check
      ->add_option("-m,--model", raw.model,
                   "A model of the configuration, instead of the agent's")
      ->type_name("NAME");
  add_common(*check);
  check->final_callback([this] { plan.check_only = true; });
  x->final_callback([this] { finish_plan(); });
}

void parser::finish_plan() {
  if (plan.file.empty())
    throw CLI::ValidationError{"FILE", "which plan? 'riffle plan FILE'"};
  plan.common = finish_common();
  if (!raw.session.empty()) plan.session = raw.session;
  plan.choices = finish_choices();
  plan.show = finish_show();
  result = plan;
}

}  // namespace riffle::cli
