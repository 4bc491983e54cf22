// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "messages/error.hpp"
#include "messages/time.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/terminal/interrupts.hpp"

namespace riffle::cli {

/// Whether the store may take it later, unchanged: its disk is full, over its
/// quota, or fails. A quota and a full disk below shared memory look like a
/// disk that fails, so all three are waited for.
bool lacks_room(const error& x) noexcept;

/// Waits while the store has no room, for one command: until Ctrl-C, or until
/// the time limit of its run. Says so once, and says when it goes on.
class room_wait {
 public:
  /// `limit` 0: none. It counts from here.
  room_wait(duration limit, const interrupts& signals, console& io);

  /// What finishes the run later, for the person: "riffle sessions resume s1".
  void finish_with(std::string with) { finish_ = std::move(with); }

  /// False: do not try again. Else waits a moment; a second SIGINT or the limit
  /// end it.
  bool wait(const error& why);

  /// If a signal, or the limit, is why a start failed, that is the end of the
  /// command.
  void interrupted(const error& why);

  /// What was waited for went well.
  void over();

  /// The time limit of the run is over.
  [[nodiscard]] bool is_over_time() const {
    return deadline_ && clock::now() >= *deadline_;
  }

  [[nodiscard]] auto deadline() const noexcept { return deadline_; }

  /// Set once the wait was ended: the exit status.
  [[nodiscard]] std::optional<int> status() const noexcept { return status_; }

 private:
  using clock = std::chrono::steady_clock;

  void leave(int status, const std::string& why);

  const interrupts& signals_;
  console& io_;
  std::optional<clock::time_point> deadline_;
  std::string finish_;
  bool told_ = false;
  std::optional<int> status_;
};

/// Calls `f` again and again while it fails for lack of room.
template <class F>
auto with_room(room_wait& room, F f) -> decltype(f()) {
  for (;;) {
    auto x = f();
    if (!x && room.wait(x.error())) continue;
    if (x) room.over();
    return x;
  }
}

/// While it lives, a signal that asks for an end ends what takes `token()`, and
/// so does the deadline, if there is one. One at a time, and not beside another
/// user of `interrupts::on_stop`.
class stop_while_starting {
 public:
  using deadline = std::optional<std::chrono::steady_clock::time_point>;

  stop_while_starting(interrupts& signals, deadline end);
  ~stop_while_starting();
  stop_while_starting(const stop_while_starting&) = delete;
  stop_while_starting& operator=(const stop_while_starting&) = delete;

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  interrupts& signals_;
  std::stop_source source_;
  std::mutex mutex_;
  std::condition_variable_any over_;
  std::jthread alarm_;
};

/// Calls `start` with a token that signals and the limit ask, as `with_room`.
/// Where one of them ended it before anything was started, `room` says so and
/// has a status.
template <class F>
auto start_with_room(room_wait& room, interrupts& signals, F start) {
  const stop_while_starting stop{signals, room.deadline()};
  auto out = with_room(room, [&] { return start(stop.token()); });
  if (!out) room.interrupted(out.error());
  return out;
}

}  // namespace riffle::cli
