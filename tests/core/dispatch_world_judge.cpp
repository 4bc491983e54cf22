// SPDX-License-Identifier: MIT
// Where the calls of the dispatch world lead, and what rules say about it.
#include <algorithm>

#include "tests/core/dispatch_world.hpp"
#include "tests/support/catch.hpp"

namespace riffle::testing {

std::string dispatch_world::random_place() {
  static const std::vector<std::string> all = {"free",  "free",  "free",
                                               "ask 1", "ask 2", "denied"};
  return all[below(static_cast<unsigned>(all.size()))];
}

/// The tool finds that its call leads elsewhere by now, and does not act.
void dispatch_world::move(const call_id& id) {
  const auto x = works_.extract(id).mapped();
  mail_.emplace_back([this, id, attempt = x.attempt] {
    watch_.moved(id, attempt);
    take(queue_.on_moved(id, attempt, now_));
  });
}

/// The rules as things are when the blocking executor comes to it.
void dispatch_world::answer(const tool_call& call) {
  auto& place = places_[call.id];
  if (chance(20)) place = random_place();
  core::judged_call how{.place = place, .keys = call.keys};
  if (chance(10)) how.keys = random_call().keys;
  how.ask = place.starts_with("ask");
  if (place == "denied")
    how.denied = error{errc::approval_denied, "rules", "denied"};
  if (!watch_.knows(call.id)) return;
  judged_[call.id] = place;
  auto now = watch_.of(call.id).call;
  const bool touches_more = !how.denied && how.keys != now.keys;
  now.keys = how.keys;
  if (touches_more && !watch_.of(call.id).settled) {
    watch_.edited(now);
    calls_[call.id].keys = now.keys;
  }
  watch_.judged(call.id, true);
  take(queue_.on_judged(call.id, std::move(how), now_));
  if (watch_.knows(call.id)) watch_.judged(call.id, false);
}

/// It acts where the rules allow it, or where somebody agreed to.
void dispatch_world::check_judged(const tool_call& call) const {
  if (!call.judged) return;
  const auto last = judged_.find(call.id);
  REQUIRE(last != judged_.end());
  REQUIRE(last->second != "denied");
  if (last->second == "free") return;
  REQUIRE(std::any_of(
      log_.begin(), log_.begin() + static_cast<std::ptrdiff_t>(stored_),
      [&](const record& x) {
        return x.what == record::kind::decided && x.id == call.id && x.flag &&
               x.place == last->second;
      }));
}

void dispatch_world::see(const core::judge_start& x) {
  REQUIRE(x.call.judged);
  answers_.emplace_back([this, call = x.call] { answer(call); });
}

/// A look answers, and no person.
bool dispatch_world::asks_nobody(const core::request_approval& x) {
  const auto id = x.call.id;
  if (x.why == core::ask_reason::anew) return true;
  const bool resumed = x.why == core::ask_reason::resumed;
  const bool again =
      resumed || (x.why == core::ask_reason::again && chance(70));
  const bool same = !resumed || chance(70);
  const bool later =
      x.why == core::ask_reason::ahead && !pending(id) && chance(30);
  if (!again && !later) return false;
  answers_.emplace_back([this, id, again, same] {
    if (!watch_.knows(id)) return;
    if (again) {
      watch_.decided(id, same);
      take(queue_.on_decision(id, same, "changed", now_, errc::interrupted));
    } else {
      watch_.postponed(id);
      take(queue_.on_postponed(id, now_));
    }
  });
  return true;
}

bool dispatch_world::pending(const call_id& id) const {
  bool result = false;
  for (const auto& x : log_) {
    if (x.id != id) continue;
    if (x.what == record::kind::asked) result = true;
    if (x.what == record::kind::decided) result = false;
  }
  return result;
}

}  // namespace riffle::testing
