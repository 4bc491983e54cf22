// SPDX-License-Identifier: MIT
#include "actors/core/tool_service.hpp"

#include <algorithm>
#include <utility>

namespace riffle::core {

namespace {

std::string seconds(duration x) {
  const auto s = std::chrono::ceil<std::chrono::seconds>(x);
  return std::to_string(s.count()) + " s";
}

}  // namespace

tool_service::tool_service(std::string tool, limits x)
    : tool_{std::move(tool)},
      limits_{x},
      restarts_{x.intensity, x.period, x.backoff} {
  limits_.abandoned = std::max(1u, limits_.abandoned);
}

tool_service::admission tool_service::admit(time_point now) {
  switch (at_) {
    case phase::up: return admission::run;
    case phase::trial: return admission::wait;
    case phase::down: break;
  }
  // While threads are still lost to it, there is no room for a trial either.
  if (now < trial_at_ || abandoned_ > limits_.abandoned)
    return admission::refuse;
  at_ = phase::trial;
  return admission::run;
}

std::optional<duration> tool_service::on_crash(time_point now,
                                               double random01) {
  if (at_ == phase::trial) {
    take_down(now, "it crashed again when it was tried");
  } else if (at_ == phase::up && !restarts_.allow(now)) {
    take_down(now, "it crashed more than " + std::to_string(limits_.intensity) +
                       " times within " + seconds(limits_.period));
  }
  if (at_ == phase::down) return {};
  return restarts_.delay(random01);
}

void tool_service::on_success() {
  if (at_ != phase::trial) return;
  at_ = phase::up;
  restarts_.reset();
}

void tool_service::on_undecided(time_point now) {
  if (at_ != phase::trial) return;
  at_ = phase::down;
  trial_at_ = now;
}

bool tool_service::on_abandoned(time_point now) {
  ++abandoned_;
  const bool was_trial = at_ == phase::trial;
  if (at_ == phase::down || (!was_trial && abandoned_ <= limits_.abandoned))
    return false;
  take_down(now, std::to_string(abandoned_) +
                     " of its calls were stopped and still run");
  return true;
}

void tool_service::on_returned() {
  if (abandoned_ > 0) --abandoned_;
}

error tool_service::why(time_point now) const {
  const auto left = std::max(trial_at_ - now, duration{});
  return {errc::tool_unavailable,
          "tool_pool",
          "`" + tool_ + "` is out of service: " + reason_ +
              "; it is tried again in " + seconds(left) +
              ", do without it until then",
          true,
          {}};
}

void tool_service::take_down(time_point now, std::string reason) {
  at_ = phase::down;
  trial_at_ = now + limits_.cool_down;
  reason_ = std::move(reason);
  restarts_.reset();
}

}  // namespace riffle::core
