// SPDX-License-Identifier: MIT
#include "runtime/cli/cli.hpp"

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/file_limit.hpp"
#include "runtime/cli/commands.hpp"
#include "runtime/cli/exit_status.hpp"
#include "runtime/cli/parse.hpp"

namespace riffle {

namespace cli {

int execute(const leave_command& x, console& io) {
  io.out.write(x.out);
  io.err.write(x.err);
  return x.status;
}

namespace {

int run_command_line(int argc, char** argv, console& io) {
  std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto command = parse(std::move(arguments));
  return std::visit([&](const auto& x) { return execute(x, io); }, command);
}

}  // namespace

}  // namespace cli

int riffle_main(int argc, char** argv) {
  cli::open_standard_descriptors();
  outlive_file_limit();
  cli::console io;
  try {
    return cli::run_command_line(argc, argv, io);
  } catch (const std::exception& e) {
    io.complain(std::string{"something went wrong inside: "} + e.what());
  }
  return cli::failed;
}

}  // namespace riffle
