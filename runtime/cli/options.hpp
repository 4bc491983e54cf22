// SPDX-License-Identifier: MIT
#pragma once

// What a command line asked for, as plain values.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "messages/time.hpp"
#include "runtime/api/riffle.hpp"

namespace riffle::cli {

enum class output_kind : std::uint8_t {
  text,   ///< the answer
  json,   ///< one object
  jsonl,  ///< a line for each event or item
};

enum class verbosity : std::uint8_t {
  quiet,    ///< errors only
  normal,   ///< tool traces
  verbose,  ///< steps, arguments, output
};

/// What every subcommand takes.
struct common_options {
  std::optional<std::filesystem::path> config;
  std::vector<std::string> sets;
  output_kind output = output_kind::text;
  verbosity level = verbosity::normal;
  bool color = true;  ///< where the terminal can show it
  bool color_always = false;
  std::string theme = "auto";  ///< or "dark", "light"
};

/// What `run` and `sessions resume` show beside the answer.
struct show_options {
  bool reasoning = false;
  bool stats = false;
  bool tool_trace = false;  ///< a JSON line for each call on standard error
  bool asks = false;    ///< a person is asked about calls, see approval_prompt
  bool raw = false;     ///< no Markdown is rendered
  bool stream = false;  ///< text as it comes, also where no terminal is
  bool notify = false;  ///< a bell and a note at the end, and at a question
};

struct run_command {
  common_options common;
  resume_options choices;  ///< what is not set stays as it is
  show_options show;
  std::string task;  ///< "-": standard input
  std::optional<std::string> session;
  bool goes_on = false;              ///< with the newest session of this folder
  std::optional<std::string> agent;  ///< else the session's
  std::string context;               ///< said to the model behind the task
  std::string phase;                 ///< that the session enters; empty: none
  std::optional<std::filesystem::path> context_file;  ///< "-": standard input
  /// What comes through a pipe is told to the model behind the task.
  bool reads_stdin = true;
  std::optional<std::filesystem::path> schema_file;  ///< of the answer
  std::vector<std::filesystem::path> attachments{};  ///< shown to the model
};

/// A conversation at the terminal; `each` has no task.
struct chat_command {
  run_command each;
};

/// `run` with several tasks.
struct volley_command {
  run_command each;                ///< what is said once for all; no `task`
  std::vector<std::string> tasks;  ///< behind those of the file
  std::optional<std::string> tasks_file;  ///< "-": standard input
  std::uint32_t workers = 4;
  std::uint32_t max_retries = 0;
  bool fail_fast = false;
};

struct plan_command {
  common_options common;
  resume_options choices;  ///< what is not set stays as it is
  show_options show;
  std::string file;  ///< "-": standard input
  bool check_only = false;
  std::optional<std::string> session;  ///< of the steps' runs
  std::optional<std::string> agent;    ///< else the session's
  std::string context;  ///< said to the model behind each instruction
};

struct resume_command {
  common_options common;
  resume_options choices;  ///< what is not set stays as it is
  show_options show;
  std::string session;
};

struct sessions_command {
  enum class what : std::uint8_t {
    list,
    show,
    events,
    diff,
    remove,
    output,
    cancel
  };
  common_options common;
  what action = what::list;
  std::string id;          ///< a session; of output: a call
  std::string file;        ///< of diff
  std::size_t limit = 20;  ///< of list
  std::string search;      ///< of list: words
  std::string reason = "cancelled by the user";  ///< of cancel
  bool forgets = false;  ///< of cancel: only what nobody works on
};

struct proposals_command {
  enum class what : std::uint8_t { list, show, approve, deny, edit, always };
  common_options common;
  what action = what::list;
  std::string id;                      ///< not of list; of always: to revoke
  std::optional<std::string> session;  ///< of list and always
  bool all = false;                    ///< of list: also what is decided
  std::size_t limit = 100;             ///< of list
  std::string reason;                  ///< of deny
  always_scope always = always_scope::none;  ///< of approve and edit
  bool kept = false;                         ///< with always
  std::optional<std::string> arguments;      ///< of edit; "-": standard input
};

struct tools_command {
  enum class what : std::uint8_t { list, call };
  common_options common;
  what action = what::list;
  std::string name;              ///< of call
  std::string arguments = "{}";  ///< of call; "-": standard input
  std::string agent{};           ///< of list: whose tools; empty: all
  bool servers = false;          ///< of list: starts them, for their tools
};

struct serve_command {
  common_options common;
  bool no_token = false;
  std::string token_for;  ///< `serve token NAME`; empty: it serves
};

struct node_command {
  common_options common;
};

struct nodes_command {
  enum class what : std::uint8_t { list, drain };
  common_options common;
  what action = what::list;
  std::string name;  ///< of drain
};

struct cluster_command {
  enum class what : std::uint8_t { init, add };
  common_options common;
  what action = what::init;
  std::filesystem::path folder = "cluster";
  std::vector<std::string> names;  ///< of processes; of init: may be empty
};

struct mcp_command {
  enum class what : std::uint8_t {
    add,
    list,
    tools,
    call,
    approve,
    remove,
    import,
    read,
    serve,
    login,
    logout,
  };
  common_options common;
  what action = what::list;
  std::string name;                  ///< of a server; of tools, read: may be ""
  std::string tool;                  ///< of call; of tools: may be ""
  std::string arguments = "{}";      ///< of call; "-": standard input
  std::vector<std::string> words;    ///< of add: the program
  std::string url;                   ///< of add
  std::vector<std::string> env;      ///< of add
  std::vector<std::string> agents;   ///< of add
  std::vector<std::string> headers;  ///< of add, NAME=VALUE
  std::string token_env;             ///< of add
  duration call_limit{};             ///< of add; 0: none
  bool trusts = false;               ///< of add
  bool yes = false;                  ///< of approve
  std::string file;                  ///< of import
  std::string uri;                   ///< of read; "": all
  approve approval = approve::none;  ///< of serve
  std::string client_id;             ///< of login: "": it is registered
  std::string client_secret_env;     ///< of login
  std::string scope;                 ///< of login: "": what the server wants
  std::uint16_t port = 0;            ///< of login: 0: any
  bool no_browser = false;           ///< of login
  duration limit = std::chrono::minutes{5};  ///< of login
};

struct models_command {
  enum class what : std::uint8_t { list, check, providers };
  common_options common;
  what action = what::list;
  std::string name;  ///< a model or a provider; of list: may be empty
};

struct events_check_command {
  common_options common;
  std::string file;  ///< "-": standard input
  bool allow_unfinished = false;
};

struct config_command {
  enum class what : std::uint8_t { check, show, init, trust };
  common_options common;
  what action = what::check;
  std::filesystem::path file = "riffle.toml";  ///< of init and trust
  bool force = false;                          ///< of init
  bool yes = false;                            ///< of trust
  bool list = false;                           ///< of trust
  bool revoke = false;                         ///< of trust
};

struct init_command {
  common_options common;
  std::string provider;  ///< empty: asked, if there are several
  std::string model;     ///< empty: asked
  bool here = false;     ///< ./riffle.toml, not the person's own
  bool force = false;
};

struct completion_command {
  common_options common;
  std::string script;  ///< bash, zsh, fish or man; empty: `names`
  std::string names;   ///< the kind of names that a shell asks for
};

/// Nothing to do but to print something and to leave.
struct leave_command {
  int status = 0;
  std::string out;  ///< for standard output
  std::string err;  ///< for standard error
};

using command =
    std::variant<leave_command, run_command, chat_command, volley_command,
                 resume_command, sessions_command, proposals_command,
                 tools_command, models_command, events_check_command,
                 config_command, completion_command, plan_command,
                 serve_command, node_command, nodes_command, cluster_command,
                 mcp_command, init_command>;

}  // namespace riffle::cli
