// SPDX-License-Identifier: MIT
#include "runtime/cli/watch.hpp"

#include "runtime/cli/exit_status.hpp"
#include "runtime/cli/run_output.hpp"

namespace riffle::cli {

namespace {

/// How often a quiet run is looked at.
constexpr auto look = std::chrono::milliseconds{250};

/// Nobody reads the output any more: the run need not go on.
void cancel_unread(const run& x, console& io, bool& cancelled) {
  if (io.out.good() || cancelled) return;
  cancelled = true;
  if (const auto why = io.out.problem(); !why.empty()) {
    io.complain("standard output cannot be written: " + why);
  }
  x.cancel("nobody reads the output");
}

int final_status(const run_output& output, const console& io) {
  const auto& end = output.report().finished();
  if (!end || !io.out.good()) return failed;
  const auto why = output.report().failure();
  return status_of(end->status, why ? std::optional{why->code} : std::nullopt);
}

}  // namespace

int watch(const run& x, const common_options& options, interrupts& signals,
          console& io) {
  run_output output{options, io.out, io.err};
  signals.on_stop([handle = x](const char* by) {
    handle.cancel(std::string{"cancelled by "} + by);
  });
  bool cancelled = false;
  auto stream = x.events();
  while (!stream.ended()) {
    if (const auto batch = stream.next(look)) output.on_lines(batch->lines());
    cancel_unread(x, io, cancelled);
  }
  signals.on_stop({});
  if (stream.failure()) return report(*stream.failure(), io);
  output.finish();
  cancel_unread(x, io, cancelled);
  return final_status(output, io);
}

}  // namespace riffle::cli
