// SPDX-License-Identifier: MIT
#include "runtime/cli/cli.hpp"

#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/base/file_limit.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/parse.hpp"
#include "runtime/cli/terminal/terminal_kind.hpp"
#include "runtime/cli/terminal/waiting_log.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/run_output.hpp"

namespace riffle {

namespace cli {

int execute(const leave_command& x, console& io) {
  io.out.write(x.out);
  io.say(x.err);
  return x.status;
}

namespace {

/// Relative names mean nothing in a folder that was deleted.
bool has_folder(console& io) {
  std::error_code problem;
  static_cast<void>(std::filesystem::current_path(problem));
  if (!problem) return true;
  io.complain("the folder that riffle was started in cannot be used (" +
              problem.message() + "): cd to one that exists");
  return false;
}

/// Colours for the background of the terminal, which all commands share.
void choose_theme(const std::string& theme, console& io) {
  const bool light = theme == "light" ||
                     (theme == "auto" && is_light(std::getenv("COLORFGBG")));
  io.out.on_light(light);
  io.err.on_light(light);
}

struct theme_of {
  template <class Command>
  std::string operator()(const Command& x) const {
    if constexpr (requires { x.common.theme; }) return x.common.theme;
    if constexpr (requires { x.each.common.theme; }) return x.each.common.theme;
    return "auto";
  }
};

/// What a person watches: null of all else, whose log is for who operates it.
struct watched_options {
  const common_options* operator()(const run_command& x) const {
    return &x.common;
  }
  const common_options* operator()(const resume_command& x) const {
    return &x.common;
  }
  const common_options* operator()(const plan_command& x) const {
    return &x.common;
  }
  const common_options* operator()(const chat_command& x) const {
    return &x.each.common;
  }
  const common_options* operator()(const volley_command& x) const {
    return &x.each.common;
  }
  template <class Other>
  const common_options* operator()(const Other&) const {
    return nullptr;
  }
};

std::optional<log_text> words_for(const common_options& x, const console& io) {
  if (x.level == verbosity::verbose) return std::nullopt;
  return log_text{use_color(x, io.err)};
}

int run_command_line(int argc, char** argv, console& io) {
  std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  // Alone it begins a conversation, which says so where there is no terminal.
  const bool alone =
      arguments.empty() ||
      (arguments.size() == 1 &&
       (arguments.front() == "-c" || arguments.front() == "--continue"));
  if (alone) arguments.emplace(arguments.begin(), "chat");
  const auto command = parse(std::move(arguments));
  const bool leaves = std::holds_alternative<leave_command>(command);
  if (!leaves && !has_folder(io)) return usage;
  choose_theme(std::visit(theme_of{}, command), io);
  std::optional<waiting_log> log;
  if (const auto* watched = std::visit(watched_options{}, command);
      watched && io.err.is_terminal()) {
    log.emplace(io.err, words_for(*watched, io));
    io.log = &*log;
  }
  const int status =
      std::visit([&](const auto& x) { return execute(x, io); }, command);
  io.complain_of_output();
  return status == completed && !io.out.good() ? failed : status;
}

}  // namespace

}  // namespace cli

int riffle_main(int argc, char** argv) {
  cli::open_standard_descriptors();
  outlive_file_limit();
  // Ignored by a parent it would be so here, and no child could be waited for.
  ::signal(SIGCHLD, SIG_DFL);
  cli::console io;
  try {
    return cli::run_command_line(argc, argv, io);
  } catch (const std::exception& e) {
    io.complain(std::string{"something went wrong inside: "} + e.what());
  }
  return cli::failed;
}

}  // namespace riffle
