// SPDX-License-Identifier: MIT
#pragma once

// Examples below the options of each `--help`.

namespace riffle::cli::help {

inline constexpr auto main = R"(Examples:
  riffle run "What does this project do? Read README.md first."
  riffle run --approve all "Run the tests and explain the first failure."
  git diff | riffle run -
  riffle sessions list
  riffle sessions resume ses_01j9

Configuration: --config FILE, else $RIFFLE_CONFIG, ./riffle.toml,
$XDG_CONFIG_HOME/riffle/riffle.toml, else the built-in defaults. The default
model wants its key in $OPENAI_API_KEY. Without a network:
  riffle run --config configs/demo.toml "What is in this folder?"

Exit status: 0 completed, 1 the task failed, 2 usage or configuration,
3 an approval was denied and the task failed for it, 124 time limit,
130 interrupted.)";

inline constexpr auto run = R"(Examples:
  riffle run "Which files here are larger than 1 MB?"
  riffle run --session notes "Remember: the build needs CAF 0.17."
  riffle run --session notes "What does the build need?"
  riffle run --approve all --timeout 5m "Fix the failing test."
  riffle run --output jsonl "List the files here." | riffle events check -
  riffle run --set agents.default.max_steps=5 "…"
  riffle run - < task.txt

The answer goes to standard output, tool traces to standard error. Calls that
change something are denied unless their approval is "allow" in the
configuration or --approve all is given. Ctrl-C cancels and settles what
runs; a second one stops at once. A run that was stopped hard is finished by
'riffle sessions resume SESSION'.)";

inline constexpr auto sessions = R"(Examples:
  riffle sessions list
  riffle sessions show notes
  riffle sessions events notes > notes.jsonl
  riffle sessions resume notes)";

inline constexpr auto resume =
    R"(Takes over the session's unfinished run after a crash: settled calls stay,
read-only ones run again, a changing call whose outcome is unknown is reported
to the model as interrupted. The run keeps its agent, and what it was started
with unless an option says otherwise. Its events are shown from the beginning.)";

inline constexpr auto events = R"(Examples:
  riffle events check run.jsonl
  riffle run --output jsonl "…" | riffle events check -)";

inline constexpr auto config = R"(Examples:
  riffle config check --config riffle.toml
  riffle config show --set publish.batching=token)";

}  // namespace riffle::cli::help
