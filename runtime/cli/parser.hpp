// SPDX-License-Identifier: MIT
#pragma once

// The parser of the command line; only parse*.cpp include this.

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "runtime/cli/options.hpp"

namespace riffle::cli {

/// Texts as CLI11 writes them; turned into values after parsing.
struct raw_options {
  std::string config;
  std::string output = "text";
  bool quiet = false;
  bool verbose = false;
  bool no_color = false;
  std::string color;
  bool reasoning = false;
  bool stats = false;
  bool tool_trace = false;
  bool raw = false;
  bool stream = false;
  bool notify = false;
  bool insecure = false;
  std::string timeout;
  std::string approval;
  std::string on_error;
  std::string session;
  std::string model;
  std::string context_file;
  std::string schema;
  std::vector<std::string> attachments;
  std::string arguments;
  std::string always;
  std::uint32_t max_steps = 0;
  std::vector<std::string> tasks;
  std::string tasks_file;
  std::string listen;
};

/// Stands before a task such as "[a, b]", which the library would take for a
/// list of two.
inline constexpr char list_guard = '\x1e';

/// Of texts that name something.

struct parser {
  parser();

  CLI::App app{
      "Riffle runs LLM agents whose tools work while the answer "
      "still streams.",
      "riffle"};
  raw_options raw;
  common_options common;
  run_command run;
  volley_command volley;
  bool tasks_are_several = false;  ///< they stand behind "--"
  plan_command plan;
  resume_command resume;
  sessions_command sessions;
  proposals_command proposals;
  tools_command tools;
  models_command models;
  events_check_command events;
  config_command config;
  completion_command completion;
  serve_command serve;
  nodes_command nodes;
  cluster_command cluster;
  mcp_command mcp;
  init_command init;
  command result;

 private:
  void add_common(CLI::App& x);
  /// `otherwise`: what becomes of calls that need approval without --approve.
  void add_choices(CLI::App& x, const std::string& otherwise =
                                    "by itself: ask at a terminal, else none");
  void add_run();
  void add_chat();
  void add_volley(CLI::App& x);
  void add_conversation(CLI::App& x);
  void add_plan();
  void finish_plan();
  void add_tools();
  void add_models();
  void add_sessions();
  void add_session_choices(CLI::App& sub, sessions_command::what action);
  void add_resume(CLI::App& parent);
  void add_proposals();
  void add_always(CLI::App& sub);
  void add_proposal_filters(CLI::App& list, CLI::App& always);
  void add_events();
  void add_config();
  void add_init();
  void add_completion();
  void add_serve();
  void add_node();
  void add_nodes();
  void add_cluster();
  void add_mcp();
  void add_mcp_add(CLI::App& sub);
  void add_mcp_read(CLI::App& sub);
  void add_mcp_call(CLI::App& sub);
  void add_mcp_login(CLI::App& sub);
  void add_insecure(CLI::App& x);
  common_options finish_common() const;
  resume_options finish_choices() const;
  show_options finish_show() const;
  void finish_run();
  void finish_volley();
};

}  // namespace riffle::cli
