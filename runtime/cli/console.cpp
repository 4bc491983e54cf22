// SPDX-License-Identifier: MIT
#include <string>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/cli/choose.hpp"
#include "runtime/cli/commands.hpp"
#include "runtime/cli/exit_status.hpp"
#include "runtime/cli/safe_text.hpp"

namespace riffle::cli {

void console::complain(std::string_view message) {
  err.write("riffle: " + safe_text(message) + "\n");
}

void console::complain_of_output() {
  const auto why = out.problem();
  if (why.empty() || std::exchange(told_of_output, true)) return;
  complain("standard output cannot be written: " + why);
}

std::optional<config::config> load_config(const common_options& options,
                                          console& io) {
  auto x =
      config::load({options.config, options.sets, config::builtin_tools()});
  if (x) {
    // From here on, so that what a store complains of obeys it too.
    auto log = *x;
    choose_log_level(options.level, log);
    init_log(log.runtime.log.level, log.runtime.log.format);
    return std::move(*x);
  }
  for (const auto& mistake : x.error()) {
    io.err.write(safe_text(config::render(mistake)) + "\n");
  }
  const auto n = x.error().size();
  io.complain((n == 1 ? "1 mistake" : std::to_string(n) + " mistakes") +
              " in the configuration, nothing was started");
  return std::nullopt;
}

int report(const error& x, console& io) {
  io.complain(x.message + " (" + std::string{to_string(x.code)} + ")");
  return status_of(x.code);
}

}  // namespace riffle::cli
