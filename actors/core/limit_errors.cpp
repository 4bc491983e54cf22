// SPDX-License-Identifier: MIT
#include "actors/core/limit_errors.hpp"

#include <string>

#include "messages/duration_text.hpp"

namespace riffle::core {

namespace {

/// "… of 2m (tools.bash.timeout)"
error over(const tool_call& call, std::string what, duration limit,
           const char* key) {
  what +=
      " of " + duration_text(limit) + " (tools." + call.tool + '.' + key + ')';
  return {errc::timeout, "dispatcher", std::move(what), false, {}};
}

}  // namespace

error not_started_in_time(const tool_call& call) {
  auto out = over(call, "it could not start within the queue's time limit",
                  call.limits.queue_timeout, "queue_timeout");
  out.message +=
      ": the run's slots were taken, or work that ignored its stop holds what "
      "it needs";
  return out;
}

error no_worker_in_time(const tool_call& call) {
  return over(call, "no worker was free within the queue's time limit",
              call.limits.queue_timeout, "queue_timeout");
}

error silent_too_long(const tool_call& call) {
  return over(call, "the tool gave no sign of life within its limit",
              call.limits.idle_timeout, "idle_timeout");
}

error not_ended_in_time(const tool_call& call) {
  return over(call, "the tool did not end within its time limit",
              call.limits.timeout, "timeout");
}

}  // namespace riffle::core
