// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/answer_gate.hpp"

#include <algorithm>

namespace riffle::cli {

void answer_gate::open(time_point now, bool draft) {
  opened_ = now;
  away_ = torn_ = had_draft_ = false;
  const bool typing = last_typed_ && now - *last_typed_ < quiet_before;
  answers_ = !draft && !typing;
  if (draft) last_typed_ = now;
}

void answer_gate::open_away(time_point now) {
  open(now, true);
  away_ = torn_ = true;
}

void answer_gate::not_before(time_point when) {
  answers_ = false;
  last_typed_ =
      std::max(last_typed_.value_or(when - quiet_before), when - quiet_before);
  opened_ = when - quiet_after;
}

void answer_gate::went_on(time_point now, bool draft) {
  opened_ = std::max(opened_, now);
  if (!draft) return;
  answers_ = false;
  last_typed_ = std::max(last_typed_.value_or(now), now);
}

void answer_gate::not_an_answer(time_point now) {
  answers_ = false;
  last_typed_ = now;
}

bool answer_gate::look(time_point now, bool draft) {
  had_draft_ = had_draft_ || draft;
  if (torn_ && had_draft_ && !draft) {
    away_ = torn_ = false;
    last_typed_ = now;
  }
  if (answers_ || away_ || draft) return false;
  answers_ = !last_typed_ || now - *last_typed_ >= quiet_before;
  return answers_;
}

key_goal answer_gate::on(const key& x, bool alone, time_point now, bool draft) {
  const bool flows = last_typed_ && now - *last_typed_ < between_keys;
  if (x.what == key_kind::tab && alone && !flows) {
    away_ = answers_;
    torn_ = false;
    answers_ = !answers_;
    opened_ = now - quiet_after + between_keys;
    return key_goal::moved;
  }
  look(now, draft);
  if (!alone || is_unread(now)) answers_ = false;
  if (answers_) return key_goal::answer;
  last_typed_ = now;
  return key_goal::text;
}

}  // namespace riffle::cli
