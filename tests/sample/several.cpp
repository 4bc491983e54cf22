// SPDX-License-Identifier: MIT
#include <future>
#include <iostream>

#include <riffle/plans.hpp>
#include <riffle/volley.hpp>

// What the model says; with dialect "openai" a real one would say it.
constexpr const char* script = "[[steps]]\ntext = \"I did: {{task}}\"\n";

constexpr const char* steps = R"(
[[steps]]
id = "look"
tool = "bash"
arguments = { command = "echo found" }
[[steps]]
instruction = "Tell what was {{steps.look.output}}"
)";

// Several tasks at once: what all of them do, in one stream.
void run_volley(riffle::runtime& runtime) {
  auto volley =
      runtime.start_volley({.tasks = {{.task = "one"}, {.task = "two"}}});
  if (!volley) return;
  while (!volley->ended())
    if (auto update = volley->next(std::chrono::seconds{1}))
      if (const auto& end = update->result)
        std::cout << end->task << ": " << end->answer << '\n';
}

// Given steps, one after the other; chunks come on a thread of the library's.
void run_plan(riffle::runtime& runtime) {
  auto plan = riffle::execute_plan(
      runtime, {.plan = steps, .with = {.approval = riffle::approve::all}},
      [](const riffle::plan_chunk& chunk) {
        if (chunk.tool) std::cout << chunk.tool->tool << " ended\n";
        std::cout << chunk.content;
      });
  if (!plan) return;
  const auto last = plan->last.get();
  std::cout << '\n' << (last.failure ? render(*last.failure) : "done") << '\n';
}

// One task, and nobody waits: the end is a call.
void run_alone(riffle::runtime& runtime) {
  std::promise<std::string> answer;
  auto run = runtime.start({.task = "three"});
  if (!run) return;
  run->on_end([&answer](const riffle::expected<riffle::run_outcome>& end) {
    answer.set_value(end ? end->answer : render(end.error()));
  });
  std::cout << answer.get_future().get() << '\n';
}

int main(int argc, char** argv) {
  const int child = riffle::worker_main(argc, argv);
  if (child != -1) return child;

  riffle::config::config config;
  config.models["default"].dialect = "scripted";
  riffle::runtime_options options;
  options.scripts["default"] = script;
  options.journal = riffle::storage::make_memory_journal();
  auto runtime = riffle::runtime::create(config, options);
  if (!runtime) return 2;
  run_volley(*runtime);
  run_plan(*runtime);
  run_alone(*runtime);
}
