// SPDX-License-Identifier: MIT
#pragma once

// A run on a picture of a terminal.

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "runtime/cli/view/live_view.hpp"
#include "tests/cli/terminal_picture.hpp"

namespace riffle::testing {

inline cli::view_options on_terminal() {
  cli::view_options x;
  x.out_terminal = x.live_text = x.status = true;
  return x;
}

/// One run on one terminal.
struct live_stage {
  explicit live_stage(cli::view_options options, std::size_t width = 80)
      : view{options}, picture{width}, columns{width} {}

  void write(const cli::screen_writes& all) {
    for (const auto& x : all) {
      (x.to_out ? out : err) += x.bytes;
      picture.feed(x.bytes);
    }
  }
  void at(duration when) { now = time_point{} + when; }
  void on(events::body body) {
    event x;
    x.seq = ++seq;
    x.run = {"run_1"};
    x.body = std::move(body);
    x.at = {std::chrono::duration_cast<std::chrono::microseconds>(
                now.time_since_epoch())
                .count()};
    write(view.on(x, now, columns));
  }
  void tick() { write(view.tick(now, {columns, rows})); }
  void tick(duration when) {
    at(when);
    tick();
  }

  cli::live_view view;
  terminal_picture picture;
  std::size_t columns;
  std::size_t rows = 24;
  time_point now{};
  std::uint64_t seq = 0;
  std::string out;
  std::string err;
};

inline events::tool_call call(const std::string& id, const std::string& tool,
                              const std::string& title,
                              const std::string& arguments) {
  events::tool_call x;
  x.id = {id};
  x.tool = tool;
  x.title = title;
  x.arguments = arguments;
  x.step = 1;
  return x;
}

inline events::tool_result result(const std::string& id,
                                  const std::string& tool, std::uint64_t ms,
                                  const std::string& metadata) {
  events::tool_result x;
  x.id = {id};
  x.tool = tool;
  x.duration_ms = ms;
  x.attempts = 1;
  x.metadata = metadata;
  return x;
}

inline events::tool_progress progress(const std::string& id,
                                      const std::string& message, double n = 0,
                                      double total = 0) {
  events::tool_progress x;
  x.id = {id};
  x.report.message = message;
  if (total > 0) {
    x.report.progress = n;
    x.report.total = total;
  }
  return x;
}

}  // namespace riffle::testing
