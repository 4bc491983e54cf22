// SPDX-License-Identifier: MIT
// riffle run TASK
#include <array>
#include <cerrno>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "runtime/cli/choose.hpp"
#include "runtime/cli/commands.hpp"
#include "runtime/cli/exit_status.hpp"
#include "runtime/cli/watch.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t largest_task = 8u << 20;

error usage_mistake(std::string message) {
  return {errc::invalid_request, "run", std::move(message), false, {}};
}

expected<std::string> read_stdin() {
  std::string out;
  std::array<char, 65536> piece{};
  while (out.size() <= largest_task) {
    const auto n = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (n == 0) break;
    if (n > 0) {
      out.append(piece.data(), static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      return unexpected{usage_mistake("standard input cannot be read: " +
                                      std::generic_category().message(errno))};
    }
  }
  if (out.size() > largest_task) {
    return unexpected{
        usage_mistake("the task is larger than 8 MiB; put it "
                      "into a file and name that in the task")};
  }
  if (out.find_first_not_of(" \t\r\n") == std::string::npos) {
    return unexpected{usage_mistake("standard input holds no task")};
  }
  return out;
}

/// Applies --agent and --model.
expected<void> choose(const run_command& x, config::config& settings) {
  if (auto known = check_agent(x.agent, settings); !known) return known;
  return choose_model(x.choices.model, x.agent, settings);
}

}  // namespace

int execute(const run_command& x, console& io) {
  auto settings = load_config(x.common, io);
  if (!settings) return usage;
  if (const auto chosen = choose(x, *settings); !chosen) {
    return report(chosen.error(), io);
  }
  auto task = x.task == "-" ? read_stdin() : expected<std::string>{x.task};
  if (!task) return report(task.error(), io);

  choose_log_level(x.common.level, *settings);
  interrupts signals;
  auto rt = runtime::create(std::move(*settings));
  if (!rt) return report(rt.error(), io);
  if (signals.asked_to_stop()) return interrupted_by_user;
  const auto started = rt->start(request_of(x, std::move(*task)));
  if (!started) return report(started.error(), io);
  return watch(*started, x.common, x.choices.show, signals, io);
}

}  // namespace riffle::cli
