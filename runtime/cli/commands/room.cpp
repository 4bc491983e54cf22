// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/room.hpp"

#include <thread>
#include <utility>

#include "runtime/cli/view/exit_status.hpp"

namespace riffle::cli {

namespace {

/// How often Ctrl-C is looked for, and how often the store is asked.
constexpr auto look = std::chrono::milliseconds{20};
constexpr auto between_tries = std::chrono::milliseconds{500};

}  // namespace

bool lacks_room(const error& x) noexcept {
  return x.code == errc::storage_unavailable && x.retryable;
}

room_wait::room_wait(duration limit, const interrupts& signals, console& io)
    : signals_{signals}, io_{io} {
  if (limit > duration{}) deadline_ = clock::now() + limit;
}

bool room_wait::wait(const error& why) {
  if (!lacks_room(why) || status_) return false;
  if (!std::exchange(told_, true))
    io_.complain("waiting for room: " + why.message +
                 ". It goes on by itself then; Ctrl-C leaves" +
                 (finish_.empty() ? ", nothing was started"
                                  : ", '" + finish_ + "' finishes the run"));
  const auto next = clock::now() + between_tries;
  for (;;) {
    const auto now = clock::now();
    if (signals_.asked_to_stop()) {
      leave(interrupted_by_user, "interrupted");
      return false;
    }
    if (deadline_ && now >= *deadline_) {
      leave(out_of_time, "the time limit is over");
      return false;
    }
    if (now >= next) return true;
    std::this_thread::sleep_for(look);
  }
}

void room_wait::interrupted(const error& why) {
  const bool asked = signals_.asked_to_stop();
  if (why.code != errc::cancelled || status_ || (!asked && !is_over_time()))
    return;
  status_ = asked ? interrupted_by_user : out_of_time;
  io_.complain((asked ? "" : "the time limit is over: ") + why.message +
               "; nothing was started");
}

stop_while_starting::stop_while_starting(interrupts& signals, deadline end)
    : signals_{signals} {
  signals_.on_stop([this](const char*) { source_.request_stop(); });
  if (!end) return;
  alarm_ = std::jthread{[this, end](const std::stop_token& ended) {
    std::unique_lock lock{mutex_};
    over_.wait_until(lock, ended, *end, [] { return false; });
    if (!ended.stop_requested()) source_.request_stop();
  }};
}

stop_while_starting::~stop_while_starting() { signals_.on_stop({}); }

void room_wait::over() {
  if (std::exchange(told_, false)) io_.complain("there is room again");
}

void room_wait::leave(int status, const std::string& why) {
  status_ = status;
  io_.complain(why + " while there was no room" +
               (finish_.empty()
                    ? "; nothing was started"
                    : "; '" + finish_ + "' finishes the run later"));
}

}  // namespace riffle::cli
