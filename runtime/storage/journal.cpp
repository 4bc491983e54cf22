// SPDX-License-Identifier: MIT
#include "runtime/storage/journal.hpp"

namespace riffle::storage {

std::string_view to_string(run_state x) noexcept {
  switch (x) {
    case run_state::active: return "active";
    case run_state::completed: return "completed";
    case run_state::failed: return "failed";
    case run_state::cancelled: return "cancelled";
  }
  return "?";
}

std::string_view to_string(run_owner x) noexcept {
  switch (x) {
    case run_owner::here: return "here";
    case run_owner::elsewhere: return "elsewhere";
    case run_owner::gone: return "gone";
  }
  return "?";
}

std::string_view to_string(message_role x) noexcept {
  switch (x) {
    case message_role::user: return "user";
    case message_role::assistant: return "assistant";
  }
  return "?";
}

std::string_view to_string(call_stage x) noexcept {
  switch (x) {
    case call_stage::waiting: return "waiting";
    case call_stage::intent: return "intent";
    case call_stage::running: return "running";
    case call_stage::settled: return "settled";
  }
  return "?";
}

}  // namespace riffle::storage
