// SPDX-License-Identifier: MIT
#pragma once

// The configuration as plain structs; the values here are the defaults, and
// `configs/default.toml` shows the same (a test compares them).

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/call.hpp"
#include "messages/error.hpp"
#include "messages/time.hpp"
#include "runtime/config/mcp_config.hpp"
#include "runtime/config/server_config.hpp"

namespace riffle::config {

using namespace std::chrono_literals;

struct log_config {
  std::string level = "warn";   ///< trace debug info warn error off
  std::string format = "text";  ///< text json
};

struct runtime_config {
  std::string data_dir = "~/.local/share/riffle";
  std::uint32_t threads = 0;            ///< 0: one for each core
  std::string scheduler = "lifo_slot";  ///< lifo_slot caf
  std::uint32_t max_runs = 0;           ///< 0: no limit
  std::uint32_t max_calls = 64;
  std::string durability = "process";  ///< process disk
  log_config log{};
};

struct timeouts_config {
  duration connect = 10s;
  duration first_byte = 60s;
  duration idle = 120s;
  duration total = 10min;
};

struct retry_config {
  std::uint32_t max_attempts = 3;
  duration base = 1s;
  duration cap = 60s;
};

struct price_config {
  double input = 0;  ///< USD per million tokens
  double output = 0;
  /// Of what the provider reads from its cache; nothing: as `input`.
  std::optional<double> cached_input{};
};

/// What a request asks for beside the conversation. What is not set is left to
/// the provider.
struct parameters_config {
  std::optional<double> temperature{};  ///< reasoning models refuse any
  std::optional<double> top_p{};
  std::optional<std::int64_t> max_output_tokens{};  ///< of one answer
  std::vector<std::string> stop{};                  ///< texts that end it
  std::optional<std::int64_t> seed{};
  std::string reasoning_effort{};                 ///< a word of the provider's
  std::optional<std::int64_t> thinking_budget{};  ///< tokens; 0: no thinking
  std::string tool_choice{};  ///< auto required none, or a tool's name
  std::optional<bool> parallel_tool_calls{};
  std::string keep_alive{};  ///< how long a server keeps the model in memory
};

struct model_config {
  /// A provider that Riffle knows: gives the defaults of the other keys, and
  /// what is odd about it. Empty: told by `base_url`, if it is one of theirs.
  std::string provider{};
  std::string dialect = "openai";  ///< openai anthropic responses ollama
                                   ///< scripted
  /// "${NAME}" is the value of a variable, "{model}" the model's name.
  std::string base_url = "https://api.openai.com/v1";
  std::string model = "gpt-4.1-mini";
  std::string api_key_env = "OPENAI_API_KEY";
  /// A program that prints the key, instead of a variable; run once, and again
  /// when the provider does not take the key any more.
  std::vector<std::string> api_key_command{};
  std::string organization{};
  json_object headers{"{}"};  ///< texts; "${NAME}": a variable, kept secret
  json_object query{"{}"};    ///< texts behind the URL's "?"
  json_object extra{"{}"};    ///< merged into the body of each request
  bool streaming = true;
  parameters_config parameters{};
  /// Models that are asked, in this order, when this one cannot be reached, is
  /// overloaded, or its quota is used up.
  std::vector<std::string> fallback{};
  std::uint32_t max_concurrent = 8;       ///< 0: no limit
  std::uint32_t requests_per_minute = 0;  ///< 0: no limit
  timeouts_config timeouts{};
  retry_config retry{};
  price_config price{};
  std::uint64_t context_window = 128000;
  /// What it takes beside text: images pdf. What the dialect has no place for
  /// does not count.
  std::vector<std::string> attachments = {"images", "pdf"};
  /// dialect = "scripted": the script file. `load` makes it absolute.
  std::string script{};
};

struct budget_config {
  std::uint32_t tool_calls = 0;
  std::uint64_t tokens = 0;
  double cost_usd = 0;
};

struct agent_config {
  std::string model = "default";
  std::string system_prompt =
      "You are a careful assistant. Use the tools to find facts before you "
      "answer, and say plainly when something is not known.";
  /// Instead of `system_prompt`; `load` makes it absolute. Read by the node.
  std::string system_prompt_file{};
  /// Names of files of a project that tell the model about it, for runs of the
  /// command line. Empty: none.
  std::vector<std::string> context_files = {"AGENTS.md"};
  std::vector<std::string> tools = {"read",  "glob", "grep",       "bash",
                                    "write", "edit", "manage_plan"};
  std::uint32_t max_steps = 30;
  std::uint32_t max_calls_in_flight = 16;
  std::uint32_t max_calls_per_turn = 256;  ///< 0: no limit
  /// Of one call; 0: no limit. Over it the call fails.
  std::uint64_t max_argument_bytes = 512u << 10;
  /// Text, reasoning and arguments of one answer; 0: no limit. There the turn
  /// ends as if the provider had ended it for its length.
  std::uint64_t max_turn_bytes = 1u << 20;
  std::uint32_t loop_limit = 5;
  std::uint32_t recovery_attempts = 3;
  budget_config budget{};
  std::string completion = "free";  ///< free tool
  std::uint32_t max_termination_attempts = 2;
  bool auto_complete = true;
  std::string phase = "work";  ///< where its sessions begin
  std::vector<std::string> exempt_phases = {"chat", "brainstorm"};
  bool silent = false;
  parameters_config parameters{};  ///< what is set, over the model's own
  /// JSON Schema of the answer, which is then JSON; empty object: any text.
  json_object response_schema{"{}"};
};

/// `{ match = "git status*", approval = "allow" }`.
struct approval_rule {
  std::string match{};
  std::string approval{};  ///< ask allow deny

  bool operator==(const approval_rule&) const = default;
};

/// What only `[tools.NAME]` with `type = "command"` has: a program as a tool.
struct command_config {
  std::vector<std::string> command{};  ///< program and its first arguments
  std::string description{};           ///< what the model reads
  json_object parameters{};            ///< JSON Schema of the arguments
  std::string effect = "mutating";     ///< read_only mutating
  std::string title{};                 ///< what a person reads; "": the name
  /// Names of variables that it sees beside PATH, HOME and LANG.
  std::vector<std::string> env{};
  /// Where it runs. `load` makes it absolute; "": the file's folder.
  std::string cwd{};
};

/// `[tools]` and, with what is set there, each `[tools.NAME]`.
struct tool_config {
  std::string type{};  ///< "command", or empty: the program has it built in
  command_config program{};
  duration timeout = 30s;
  duration idle_timeout = 0s;
  /// How long what a call started may take to end when it is asked to.
  duration kill_grace = 500ms;
  std::uint32_t concurrency = 4;
  std::uint32_t attempts = 2;
  duration queue_timeout = 10min;
  std::uint64_t output_limit = 65536;
  std::int32_t priority = 0;
  bool idempotent = false;
  std::vector<std::string> keys{};
  bool polling = false;
  std::string isolation = "thread";  ///< thread process
  /// `namespace`: whether its programs get a PID namespace of their own where
  /// the system allows it.
  std::string pid_namespace = "auto";  ///< auto none
  std::uint32_t abandoned_limit = 4;
  /// Where its calls may run: names and patterns of nodes, "label:X", "local".
  /// Empty: "local", and all nodes for a tool that this process does not have.
  std::vector<std::string> nodes{};
  /// session: its calls of a session go where the first one went.
  std::string sticky = "none";  ///< none session
  std::string workspace = ".";  ///< relative to the working directory
  /// ask allow deny; in a tool's own table also default: as [tools] says for
  /// calls that change something, and those that only read need no approval.
  std::string approval = "default";
  std::vector<approval_rule> rules{};  ///< the first that matches decides
  /// `[tools.bash]` only: commands that surely read.
  std::vector<std::string> read_only{};
};

/// What a tool has before its own table is read: `base`, except where a
/// built-in tool has another default (bash: timeout 2m).
tool_config with_tool_defaults(const std::string& name, tool_config base);

/// `[tools]` of a file that says nothing.
tool_config common_tool_defaults();

struct tools_config {
  tool_config defaults = common_tool_defaults();
  /// `[tools.fetch] allow`: hosts and networks that `fetch` may reach beside
  /// the public internet: "name", "10.0.0.0/8", "[::1]:80".
  std::vector<std::string> fetch_allow{};
  std::map<std::string, tool_config> by_name = {
      {"bash", with_tool_defaults("bash", {})},
      {"fetch", with_tool_defaults("fetch", {})}};
  /// By "NAME__": of the tools of a server that have no table of their own.
  std::map<std::string, tool_config> of_servers{};

  /// The settings of a tool: its own table over the defaults.
  [[nodiscard]] const tool_config& of(const std::string& name) const;

  /// ask, allow or deny: what holds for a tool's calls that no rule decides.
  [[nodiscard]] std::string approval_of(const std::string& name,
                                        effect of_tool) const;
};

struct supervision_config {
  std::uint32_t intensity = 5;
  duration period = 60s;
  duration backoff_base = 100ms;
  duration backoff_cap = 30s;
  duration cool_down = 60s;
};

struct publish_config {
  std::string batching = "sentence";  ///< token sentence adaptive
  duration flush_delay = 100ms;
  std::uint32_t output_limit = 200;
};

struct approvals_config {
  std::string mode = "wait";  ///< wait propose
  duration expire_after = 24h;
};

/// Pictures and files that a model is shown.
struct attachments_config {
  std::uint64_t max_file_bytes = 5u << 20;
  /// Of a task, and of all that a request shows.
  std::uint64_t max_total_bytes = 20u << 20;
};

struct tls_config {
  std::string certificate{};
  std::string key{};
  std::string ca{};
};

/// How processes of a cluster find each other.
struct cluster_config {
  std::string listen{};             ///< host:port; "": nobody can join
  std::vector<std::string> join{};  ///< host:port of the others
  std::string name{};               ///< of this process; "": the host's name
  std::string group = "riffle";     ///< members of another one are refused
  /// Without TLS, on loopback only.
  bool insecure = false;
  /// Longest wait of a run that names a tool which only nodes have.
  duration join_timeout = 2s;
  duration heartbeat = 1s;
  duration timeout = 3s;  ///< of silence: the node is fenced
  /// What a node runs for somebody whom it does not hear ends after this.
  duration orphan_after = 5s;
  std::uint64_t max_frame = 64u << 20;  ///< bytes of one message
  tls_config tls{};

  [[nodiscard]] bool used() const { return !listen.empty() || !join.empty(); }
};

/// What `riffle node` offers.
struct node_config {
  std::vector<std::string> tools{};
  std::vector<std::string> labels{};
  /// What runs when it is told to end may take so long.
  duration drain_timeout = 30s;
};

struct config {
  runtime_config runtime{};
  std::map<std::string, model_config> models = {{"default", {}}};
  std::map<std::string, agent_config> agents = {{"default", {}}};
  tools_config tools{};
  std::map<std::string, mcp_config> mcp{};
  mcp_server_config mcp_server{};
  supervision_config supervision{};
  publish_config publish{};
  approvals_config approvals{};
  attachments_config attachments{};
  server_config server{};
  cluster_config cluster{};
  node_config node{};
  /// Where relative paths of the file are anchored: its folder, or the
  /// working directory for built-in defaults and `--set`. `load` has done so
  /// for `data_dir`, `script` and `system_prompt_file`.
  std::filesystem::path base_dir{};
  std::filesystem::path file{};  ///< empty: built-in defaults
  std::string digest{};          ///< SHA-256 of the file's text; "": no file
  /// Where keys were set: "models.default.model" -> "line 7" (of the file) or
  /// "--set". What is not in it has its default.
  std::map<std::string, std::string> origins{};
};

/// One mistake.
struct mistake {
  std::string file{};  ///< or "--set"
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string message{};  ///< what is wrong, and what is allowed
};

/// `file:line:column: message`.
std::string render(const mistake& x);

struct load_request {
  std::optional<std::filesystem::path> file{};  ///< `--config`
  std::vector<std::string> sets{};              ///< `--set key=value`, in order
  /// The tools that there are. If set, `agents.*.tools` and `[tools.NAME]`
  /// may name no other; else only the node checks them when it starts.
  std::optional<std::vector<std::string>> tools{};
  /// The configuration itself instead of a file.
  std::optional<std::string> text{};
};

/// A model by the name of its table, or as PROVIDER/MODEL of a provider that
/// Riffle knows ("anthropic/claude-sonnet-4-5"), which needs no table. Nothing:
/// there is none.
std::optional<model_config> find_model(const config& x,
                                       const std::string& name);

/// Why `find_model` found nothing, and what there is.
std::string unknown_model(const config& x, const std::string& name);

/// Names of the tools that are built in.
std::vector<std::string> builtin_tools();

/// Where the configuration is found: `--config`, `$RIFFLE_CONFIG`,
/// `./riffle.toml`, `$XDG_CONFIG_HOME/riffle/riffle.toml` (default
/// `~/.config`), else nothing: the built-in defaults.
std::optional<std::filesystem::path> find_file(const load_request& request);

/// Reads and checks everything, and reports all mistakes at once.
tl::expected<config, std::vector<mistake>> load(const load_request& request);

/// One key with its value, e.g. {"publish", "flush_delay", "\"100ms\""}.
struct setting {
  std::string section{};  ///< "models.default.retry"
  std::string key{};
  std::string value{};  ///< as TOML

  bool operator==(const setting&) const = default;
};

/// Every key of a configuration, in the order of `config show`.
std::vector<setting> settings(const config& x);

/// A TOML text that `load` reads back to the same settings.
std::string to_toml(const config& x);

}  // namespace riffle::config
