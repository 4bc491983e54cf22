// SPDX-License-Identifier: MIT
#pragma once

// What a call is told that went over a limit: which, how long, whose key.

#include "messages/call.hpp"

namespace riffle::core {

error not_started_in_time(const tool_call& call);
error no_worker_in_time(const tool_call& call);
error silent_too_long(const tool_call& call);
error not_ended_in_time(const tool_call& call);

}  // namespace riffle::core
