// SPDX-License-Identifier: MIT
#include "runtime/cli/unfinished.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <poll.h>
#include <termios.h>
#include <unistd.h>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/cli/approval_prompt.hpp"
#include "runtime/cli/choose.hpp"
#include "runtime/cli/exit_status.hpp"
#include "runtime/cli/safe_text.hpp"
#include "runtime/cli/trace_writer.hpp"
#include "runtime/cli/watch.hpp"

namespace riffle::cli {

namespace {

/// How often it is looked whether the person asked for the end.
constexpr int between_looks_ms = 200;

/// A line from the keyboard without its end; nothing: there is none any more.
std::optional<std::string> read_line(int keyboard, const interrupts& signals) {
  std::string line;
  while (!signals.asked_to_stop()) {
    pollfd ready{keyboard, POLLIN, 0};
    if (::poll(&ready, 1, between_looks_ms) <= 0) continue;
    std::array<char, 256> piece{};
    const auto n = ::read(keyboard, piece.data(), piece.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return std::nullopt;
    line.append(piece.data(), static_cast<std::size_t>(n));
    if (const auto end = line.find('\n'); end != std::string::npos)
      return line.substr(0, end);
  }
  return std::nullopt;
}

/// A closed keyboard is a no.
bool wants_it(const std::string& what, int keyboard, const interrupts& signals,
              console& io) {
  io.err.write(what + "\n");
  // What was typed before the question was seen is no answer to it.
  ::tcflush(keyboard, TCIFLUSH);
  for (;;) {
    io.err.write("Finish it first? [y]es, [n]o > ");
    const auto line = read_line(keyboard, signals);
    if (!line) {
      io.err.write("\n");
      return false;
    }
    if (const auto answer = yes_or_no(*line)) return *answer;
  }
}

}  // namespace

std::optional<storage::run_record> left_behind(
    const std::vector<unfinished_run>& all, const std::string& folder) {
  const auto found = std::ranges::find_if(all, [&](const unfinished_run& x) {
    return x.owner == storage::run_owner::gone && folder_of(x.run) == folder;
  });
  if (found == all.end()) return std::nullopt;
  return found->run;
}

std::string unfinished_text(const storage::run_record& x, wall_time now) {
  const auto ms = std::max<std::int64_t>(0, now.us - x.started.us) / 1000;
  return "A run of this folder was not finished: \"" + safe_line(x.task, 60) +
         "\" (session " + safe_line(x.session.value, 64) + ", begun " +
         duration_text(static_cast<std::uint64_t>(ms)) + " ago).";
}

std::optional<bool> yes_or_no(std::string_view line) {
  if (line == "y" || line == "yes") return true;
  if (line == "n" || line == "no") return false;
  return std::nullopt;
}

int finish_first(runtime& rt, const run_command& x, interrupts& signals,
                 room_wait& room, console& io) {
  if (x.common.level == verbosity::quiet) return completed;
  std::error_code gone;
  const auto here = std::filesystem::current_path(gone).string();
  const auto all = rt.unfinished();
  const auto left = all ? left_behind(*all, here) : std::nullopt;
  if (!left) return completed;
  const auto what = unfinished_text(*left, system_wall_time());
  auto keyboard = open_keyboard(x.task == "-");
  if (!keyboard || x.common.output != output_kind::text) {
    io.complain(what + " 'riffle sessions resume " + left->session.value +
                "' finishes it");
    return completed;
  }
  if (!wants_it(what, keyboard->get(), signals, io)) return completed;
  const auto resumed = with_room(room, [&] {
    return rt.resume(left->id, {}, {.approval = approve::ask});
  });
  if (room.status()) return *room.status();
  if (!resumed) return report(resumed.error(), io);
  return watch({rt, *resumed, std::move(keyboard)}, x.common, x.choices.show,
               signals, room, io);
}

}  // namespace riffle::cli
