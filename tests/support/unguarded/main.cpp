// SPDX-License-Identifier: MIT
// Uses the library and forgot `worker_main`. Notes each start of itself in the
// file that its first argument names. With a second argument it takes no tool
// that starts programs, with a third it wants one in a process of its own.
#include <fstream>
#include <iostream>

#include "runtime/api/riffle.hpp"

int main(int argc, char** argv) {
  std::ofstream{argv[1], std::ios::app} << "started\n";
  riffle::config::config config;
  config.models["default"].dialect = "scripted";
  if (argc > 2) config.agents["default"].tools = {"read"};
  if (argc > 3) config.tools.by_name["read"].isolation = "process";
  riffle::runtime_options options;
  options.journal = riffle::storage::make_memory_journal();
  options.scripts["default"] =
      "[[steps]]\ncalls = [{ tool = \"bash\", arguments = { command = \"true\" "
      "} }]\n[[steps]]\ntext = \"answered\"\n";
  auto runtime = riffle::runtime::create(config, options);
  if (!runtime) {
    std::cerr << render(runtime.error()) << '\n';
    return 2;
  }
  const auto end =
      runtime->execute({.task = "go", .approval = riffle::approve::all});
  if (!end) {
    std::cerr << render(end.error()) << '\n';
    return 3;
  }
  std::cout << end->answer << '\n';
  return 0;
}
