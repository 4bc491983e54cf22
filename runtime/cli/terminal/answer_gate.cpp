// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/answer_gate.hpp"

namespace riffle::cli {

void answer_gate::open(time_point now, bool draft) {
  opened_ = now;
  const bool typing = last_typed_ && now - *last_typed_ < quiet_before;
  answers_ = !draft && !typing;
}

key_goal answer_gate::on(const key& x, bool alone, time_point now) {
  const bool flows = last_typed_ && now - *last_typed_ < between_keys;
  if (x.what == key_kind::tab && alone && !flows) {
    answers_ = !answers_;
    opened_ = now - quiet_after + between_keys;
    return key_goal::moved;
  }
  if (!alone || now - opened_ < quiet_after) answers_ = false;
  if (answers_) return key_goal::answer;
  last_typed_ = now;
  return key_goal::text;
}

}  // namespace riffle::cli
