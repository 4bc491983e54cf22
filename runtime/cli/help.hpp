// SPDX-License-Identifier: MIT
#pragma once

// Examples below the options of each `--help`.

namespace riffle::cli::help {

inline constexpr auto main = R"(Examples:
  riffle run "What does this project do? Read README.md first."
  riffle run --approve all "Run the tests and explain the first failure."
  riffle run -m anthropic/claude-sonnet-4-5 "What does this project do?"
  git diff | riffle run -
  riffle plan release.toml
  riffle sessions list
  riffle sessions resume ses_01j9
  riffle tools call read '{"path": "README.md"}'
  riffle init

Configuration: --config FILE, else $RIFFLE_CONFIG, ./riffle.toml,
$XDG_CONFIG_HOME/riffle/riffle.toml, else the built-in defaults. What lies in
./riffle.toml counts once you trusted it: 'riffle config trust'. The default
model wants its key in $OPENAI_API_KEY.)";

inline constexpr auto main_end =
    R"(Exit status: 0 completed, 1 the task failed, 2 usage or configuration,
3 completed, but calls were denied since nobody could be asked, 124 time
limit, 130 interrupted.)";

inline constexpr auto run = R"(Examples:
  riffle run "Which files here are larger than 1 MB?"
  riffle run --session notes "Remember: the build needs CAF 0.17."
  riffle run --session notes "What does the build need?"
  riffle run --approve all --timeout 5m "Fix the failing test."
  riffle run --context-file review.md "Do what the review asks for."
  git diff | riffle run "Review this."
  riffle run --attach screen.png "What is wrong on this screen?"
  riffle run --stats --show-reasoning "Why does the build fail?"
  riffle run --stream "Tell me of this project." | tee answer.md
  riffle run --output jsonl "List the files here." | riffle events check -
  riffle run --set agents.default.max_steps=5 "…"
  riffle run -m ollama/qwen3 "What is in this folder?"
  riffle run --schema sizes.json "How large is each file here?" | jq .
  riffle run - < task.txt
  riffle run "Check a.cpp." "Check b.cpp." "Check c.cpp."
  riffle run --tasks-file tasks.txt --workers 8 --max-retries 2 --output json

The answer goes to standard output, tool traces to standard error. Before a
call changes something you are asked at the terminal; without one it is denied
unless the configuration allows it or --approve all is given. With --approve
ask and no terminal the run waits for 'riffle proposals'. Ctrl-C, SIGTERM
and SIGHUP cancel and settle what runs; a second Ctrl-C stops at once. A run
that was stopped hard is finished by 'riffle sessions resume SESSION'.

Exit status: 0 completed, 1 the task failed, 2 usage or configuration,
3 completed, but calls were denied since nobody could be asked (with an
explicit --approve none: 0), 124 time limit, 130 interrupted.)";

inline constexpr auto init = R"(Examples:
  riffle init
  riffle init --provider anthropic --model claude-sonnet-4-5
  riffle init --here --force

Looks for keys of providers in the environment, and for model servers on this
machine (ollama, LM Studio, llama.cpp, vllm). Asks which one, and which of its
models; writes $XDG_CONFIG_HOME/riffle/riffle.toml (~/.config), which names the
variable of the key and never the key; makes one tiny request and says what
works. $X_BASE_URL beside a key $X_API_KEY, and $OLLAMA_HOST, are written as
the address. 'riffle config init' writes a file with every key instead.

Exit status: 0 written, and the model works; 1 the model cannot be used; 2
usage, nothing to choose from, or the file is there already.)";

inline constexpr auto chat = R"(Examples:
  riffle
  riffle chat -c
  riffle chat --session k3f9qz -m anthropic/claude-sonnet-4-5

Type a task, Enter sends it; "\\" at the end of a line, or Alt-Enter, goes on
in a new one; a paste is one text. "@PATH" attaches a file (Tab completes),
"!COMMAND" runs a command and lets the model see its output, "/help" lists the
other commands, such as "/diff" and "/undo". A text of your own is a command,
too: NAME.md in $XDG_CONFIG_HOME/riffle/commands or in ./.riffle/commands is
"/NAME". What is typed while a run works waits for its end, or, after a second
Enter, for its next step. Ctrl-C stops the run, not the conversation; Ctrl-D
leaves. '-c' goes on where the newest session of this folder ended.)";

inline constexpr auto plan = R"(Examples:
  riffle plan release.toml
  riffle plan check release.toml
  riffle plan --approve all --timeout 10m release.toml
  riffle plan --output jsonl - < plan.json | riffle events check -

A plan is a TOML or JSON file with a list of steps, executed one at a time:

  [[steps]]
  id = "log"
  tool = "bash"
  arguments = { command = "git log --oneline v1.0.." }

  [[steps]]
  id = "notes"
  instruction = "Write release notes from this log:\n{{steps.log.output}}"
  on_error = "retry"
  timeout = "5m"

Keys of a step: id, instruction or tool with arguments, depends_on, on_error
("stop", "continue", "retry"), timeout; of the plan: steps, timeout,
require_streaming. 'check' tells all mistakes with their places and starts
nothing. The answer is the output of the last step that completed. A plan that
was stopped hard goes on at the step that was open: 'riffle sessions resume
plan_...', the id stands on standard error.

Exit status: 0 completed, 1 the plan failed, 2 usage, configuration or an
invalid plan, 3 completed, but calls were denied since nobody could be asked,
124 time limit, 130 interrupted.)";

inline constexpr auto completion = R"(Examples:
  source <(riffle completion bash)
  riffle completion zsh > "${fpath[1]}/_riffle"
  riffle completion fish > ~/.config/fish/completions/riffle.fish
  riffle completion man | man -l -

An installed Riffle has brought them along: new shells find them.)";

inline constexpr auto sessions = R"(Examples:
  riffle sessions list
  riffle sessions list --search "tax 2025"
  riffle sessions show notes
  riffle sessions diff notes src/main.cpp
  riffle sessions events notes > notes.jsonl
  riffle sessions resume notes
  riffle sessions cancel notes --reason "the wrong branch"
  riffle sessions show --output json notes | grep call_
  riffle sessions output
  riffle sessions output call_01j9 | less
  riffle sessions forget notes
  riffle sessions delete notes

A call's output stands in its event with 200 characters and is told to the
model up to tools.*.output_limit; 'output' prints the whole. It is kept until
its session is deleted. 'diff' shows what calls of write and edit changed; what
commands did to files no log knows. 'cancel' ends a run that another process
works on.)";

inline constexpr auto proposals = R"(Examples:
  riffle proposals list
  riffle proposals show prop_01j9
  riffle proposals approve prop_01j9
  riffle proposals deny prop_01j9 "Use a branch."
  riffle proposals edit prop_01j9 --arguments '{"command": "make -n"}'
  riffle proposals approve prop_01j9 --always pattern
  riffle proposals approve prop_01j9 --always pattern --kept
  riffle proposals always
  riffle proposals always --revoke prop_01j9

A call that needs approval is a proposal. Its run waits for the decision, in
whatever process, or goes on without it (approvals.mode = "propose"): then an
approval starts a run of the session that executes exactly this call, and its
outcome is shown here. It is executed in the folder where it was proposed,
with the configuration of that folder, wherever it is approved. The first
decision holds, for what was shown: if the tool or the file has changed since,
nothing is executed and a new proposal takes its place. 'always' lists what was
approved for further calls too, and takes it back; rules of the configuration
that ask or deny stand above it. Exit status: 0 decided as asked, 1 somebody
decided before, what was shown has changed, or nothing was executed, 2 no such
proposal, its folder is gone, or the arguments are not those of its tool.)";

inline constexpr auto tools = R"(Examples:
  riffle tools list
  riffle tools list --output json
  riffle tools list --servers
  riffle tools call read '{"path": "README.md", "limit": 5}')";

inline constexpr auto tools_call = R"(Examples:
  riffle tools call read '{"path": "README.md", "limit": 5}'
  riffle tools call bash '{"command": "make"}' --set tools.bash.timeout=10m
  echo '{"command": "date"}' | riffle tools call bash -
  riffle tools call files__read_text_file '{"path": "README.md"}'

Rules and approvals are for models: what you call by hand runs at once.

It runs at once, without approval, and no run is stored. Its output goes to
standard output, traces to standard error. Exit status: 0 it succeeded, 1 it
failed, 2 no such tool or wrong arguments, 124 time limit, 130 interrupted.)";

inline constexpr auto models = R"(Examples:
  riffle models providers
  riffle models list groq
  riffle models check anthropic/claude-sonnet-4-5
  riffle run -m ollama/qwen3 "What is in this folder?"

PROVIDER/MODEL is a model wherever one is named (-m, agents.*.model, fallback):
a provider's server, and the variable that holds its key, are built in. A table
[models."PROVIDER/MODEL"] changes what it sets. 'list' asks the provider itself.
'check' makes one request with one tool and says what works; it costs some
hundred tokens. Exit status: 0 it works, 1 it does not, 2 no such model, or no
key.)";

inline constexpr auto resume =
    R"(Examples:
  riffle sessions resume notes
  riffle sessions resume notes --approve all --stats
  riffle sessions resume plan_01j9 --on-error retry

Takes over the session's unfinished run after a crash: settled calls stay,
read-only ones run again, a changing call whose outcome is unknown is reported
to the model as interrupted. The run keeps its agent, and what it was started
with unless an option says otherwise. At a terminal you are asked about calls
that need approval, unless --approve says what becomes of them; without one a
run that was begun with --approve ask waits for 'riffle proposals'. Its events
are shown from the beginning.
Exit status: as 'riffle run': 0 completed, 1 the task failed, 2 usage or
configuration, 3 completed, but calls were denied since nobody could be asked,
124 time limit, 130 interrupted.)";

inline constexpr auto events = R"(Examples:
  riffle events check run.jsonl
  riffle run --output jsonl "…" | riffle events check -)";

inline constexpr auto serve = R"(Examples:
  riffle serve
  riffle serve --listen 127.0.0.1:8080
  riffle serve --config server.toml
  curl -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
    -H 'Accept: text/event-stream' -d '{"task": "What is in this folder?"}' \
    -N http://127.0.0.1:7433/v1/runs
  riffle serve token ci

Serves runs over HTTP, in the folder where it was started: events as streams
that any EventSource client follows and resumes, approvals from anywhere. A
token is required: that of the variable server.token_env, else one that is made
at the first start; its file is named then. What runs when it is told to end
(SIGTERM, Ctrl-C) follows server.on_stop; what was cut off goes on at the next
start. SIGHUP reads tokens, names and the log's level again. 'token NAME' makes
a token and what the configuration holds of it. All routes: /openapi.json.
Exit status: 0 it ended when it was told to, 1 it failed, 2 configuration.)";

inline constexpr auto node = R"(Examples:
  riffle node --config node.toml
  riffle node --insecure --set cluster.listen=127.0.0.1:7434 \
    --set 'node.tools=["read", "grep"]'

Runs tools for other processes of the cluster: those that [node] tools names,
with the limits, workspace and rules of its own configuration, which nobody can
widen from outside. It listens at cluster.listen, dials cluster.join, or both.
SIGTERM drains it: it takes no more calls, what runs may end within
node.drain_timeout; Ctrl-C after that ends it at once. Who may join
proves it by a certificate ('riffle cluster init'); whoever has one may run
what is offered. Exit status: 0 it ended when it was told to, 2 configuration.)";

inline constexpr auto nodes = R"(Examples:
  riffle nodes list
  riffle nodes list --output json --config origin.toml
  riffle nodes drain gpu-1

Asks each address of cluster.join, or who listens at cluster.listen, and shows
what has joined these, too. 'drain' lets a node end, by its name or address: it
takes no more calls, and ends when those that it has are done. Exit status: 0
all answered (drain: it is being drained), 1 not all did, 2 configuration.)";

inline constexpr auto cluster = R"(Examples:
  riffle cluster init certs origin gpu-1 gpu-2
  riffle cluster add gpu-3 --dir certs
  riffle node --set cluster.tls.certificate=certs/gpu-1.pem \
    --set cluster.tls.key=certs/gpu-1.key --set cluster.tls.ca=certs/ca.pem

'init' makes an authority of this cluster alone, and a certificate with its key
for each process; copy to a machine NAME.pem, NAME.key and ca.pem, never ca.key,
which signs more. Whoever has a certificate is trusted with all that nodes offer.
Certificates of your own authority do as well.)";

inline constexpr auto mcp = R"(Examples:
  riffle mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  riffle mcp add docs --url https://example.com/mcp
  riffle mcp add hub --url https://example.com/mcp --token-env HUB_TOKEN
  riffle mcp add lab --url https://example.com/mcp --header 'X-Team=${TEAM}'
  riffle mcp list
  riffle mcp tools files
  riffle mcp call files read_text_file '{"path": "README.md"}'
  riffle mcp approve files
  riffle mcp import .mcp.json
  riffle mcp read file:///a.txt --server files
  riffle mcp login docs
  riffle mcp logout docs
  riffle mcp remove files
  riffle mcp serve --config riffle.toml

A server's tools are the agent's, as NAME__TOOL, with time limits, progress and
approvals like any tool. 'add' writes [mcp.NAME] into the configuration that
is in use (else your own one); an agent that is not named there names
"mcp:NAME", or single tools, in its list of tools. Each tool counts as one that changes things
unless [mcp.NAME] trust = "annotations" or its own table says otherwise. What
'approve' has shown is remembered: a tool that is another one later is not used
before you have looked again. It shows a line for each tool; 'v' at its
question, and --output json, show schemas and descriptions whole. A server over HTTP that wants you to log in says
so; 'login' opens the page where you agree in your browser ($BROWSER; else it
prints the address) and keeps the token in the data folder, for you alone, where
it is made new as long as that works. 'serve' is the other side: a client starts
it and gives tasks to Riffle (run_task). Exit status: 0 done, 1 the server or
the call failed, 2 usage or configuration.)";

inline constexpr auto config = R"(Examples:
  riffle config check --config riffle.toml
  riffle config show --set publish.batching=token
  riffle config init
  riffle config init --force ~/.config/riffle/riffle.toml
  riffle config trust
  riffle config trust --list
  riffle config trust --revoke ../clone/riffle.toml

A riffle.toml that was found in the working folder may come from a stranger.
Where you have no file of your own, limits that it lowers count; all else only
after you looked at it and trusted it, as it is: a change is asked about again,
with what changed. Without a terminal that is exit status 2. A file that you
name (--config, $RIFFLE_CONFIG) and your own one are trusted, and so is what
'config init' wrote. 'check' and 'show' start nothing and need no trust;
commands that only look leave an untrusted file out. What you trust is kept in
$XDG_STATE_HOME/riffle/trust.)";

}  // namespace riffle::cli::help
