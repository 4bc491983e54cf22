// SPDX-License-Identifier: MIT
#include <iostream>

#include "word_count.hpp"

// What the model says; with dialect "openai" a real one would say it.
constexpr const char* script = R"(
[[steps]]
text = "I count them. "
calls = [
  { tool = "word_count", arguments = { text = "to be or not to be" } },
  { tool = "bash", arguments = { command = "echo from bash" } },
]
[[steps]]
text = "It has {{result.0 | trim}}, and hello {{result.1 | trim}}."
)";

int main(int argc, char** argv) {
  // Tools may run in child processes: this program once more.
  const int child = riffle::worker_main(argc, argv);
  if (child != -1) return child;

  riffle::config::config config;
  config.models["default"].dialect = "scripted";
  config.agents["default"].tools = {"word_count", "bash"};
  riffle::runtime_options options;
  options.tools = {word_count()};
  options.scripts["default"] = script;
  options.journal = riffle::storage::make_memory_journal();  // else: SQLite

  auto runtime = riffle::runtime::create(config, options);
  if (!runtime) {
    std::cerr << render(runtime.error()) << '\n';
    return 2;
  }
  auto end = runtime->execute(
      {.task = "How many words?", .approval = riffle::approve::all},
      [](const riffle::event_batch& batch) { std::cout << batch.lines(); });
  if (!end || end->failure) {
    std::cerr << render(end ? *end->failure : end.error()) << '\n';
    return 1;
  }
  std::cerr << end->answer << '\n';
}
