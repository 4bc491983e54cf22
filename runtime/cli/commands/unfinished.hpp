// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/time.hpp"
#include "runtime/api/riffle.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/room.hpp"
#include "runtime/cli/terminal/interrupts.hpp"

namespace riffle::cli {

/// Of these, the newest that began in `folder` and whose process is gone.
std::optional<storage::run_record> left_behind(
    const std::vector<unfinished_run>& all, const std::string& folder);

/// "A run of this folder was not finished: "task" (session s1, begun 3m 05s
/// ago)."; of a run that works on a task of a volley, the same of that, which
/// has so many `tasks`.
std::string unfinished_text(const storage::run_record& x, wall_time now,
                            std::size_t tasks = 0);

/// Before `run` starts its task, and at the beginning of `chat`: a run that a
/// crash interrupted in this folder, or the volley that it belongs to, is
/// offered at a terminal, and finished first if the person wants it; else one
/// line says how to finish it. Returns the exit status of what was finished.
int finish_first(runtime& rt, const run_command& x, interrupts& signals,
                 room_wait& room, console& io);

}  // namespace riffle::cli
