// SPDX-License-Identifier: MIT
#include "actors/core/volley_schedule.hpp"

#include <algorithm>
#include <utility>

namespace riffle::core {

namespace {

/// So often it is tried whether there is room for more.
constexpr duration room_pause = std::chrono::seconds{1};

volley_limits at_least_one(volley_limits x) {
  x.workers = std::max<std::uint32_t>(1, x.workers);
  return x;
}

}  // namespace

volley_schedule::volley_schedule(volley_limits limits,
                                 std::vector<volley_task> tasks)
    : limits_{at_least_one(limits)}, room_{0} {
  tasks_.reserve(tasks.size());
  for (auto& x : tasks) {
    const auto i = tasks_.size();
    const bool over = x.ended;
    tasks_.push_back({std::move(x), over ? state::over : state::waiting});
    lanes_.try_emplace(tasks_[i].what.model,
                       lane{limits_.workers, limits_.workers});
    if (over) continue;
    ++left_;
    const auto& chain = tasks_[i].what.chain;
    auto& ready = lane_of(i).ready;
    if (chain.empty()) {
      ready.insert(i);
      continue;
    }
    const auto [place, first] = chains_.try_emplace(chain);
    if (first)
      ready.insert(i);
    else
      place->second.push_back(i);
  }
}

volley_effects volley_schedule::begin(time_point) {
  volley_effects out;
  // Not before: the limits of all models are known first, one by one.
  room_ = limits_.workers;
  if (left_ == 0) out.emplace_back(volley_over{});
  fill(out);
  return out;
}

volley_effects volley_schedule::on_end(std::size_t task, const task_end& how,
                                       time_point now, double random01) {
  volley_effects out;
  auto& x = tasks_.at(task);
  if (x.now != state::running) return out;
  --running_;
  auto& of = lane_of(task);
  --of.running;
  if (how.no_room) {
    on_no_room(task, now, out);
    return out;
  }
  if (how.rate_limited)
    of.capacity = std::max<std::uint32_t>(1, of.capacity / 2);
  if (how.completed) of.capacity = std::min(limits_.workers, of.capacity + 1);
  const auto again = how.completed
                         ? retry_plan{}
                         : next_retry(limits_.retries, x.what.attempts,
                                      how.retryable, std::nullopt, random01);
  if (again.again && !stopped_) {
    x.now = state::pausing;
    pauses_.emplace(now + again.delay, task);
  } else {
    end(task, out, again.again && cancelled_);
    if (!how.completed && limits_.fail_fast) stop(out);
  }
  fill(out);
  return out;
}

/// It takes its turn again, as if it had not had it.
void volley_schedule::on_no_room(std::size_t task, time_point now,
                                 volley_effects& out) {
  auto& x = tasks_[task];
  --x.what.attempts;
  --x.begun;
  if (stopped_) return end(task, out, cancelled_ && x.begun > 0);
  x.now = state::waiting;
  lane_of(task).ready.insert(task);
  room_ = std::min(room_, static_cast<std::uint32_t>(running_));
  if (!look_for_room_) look_for_room_ = now + room_pause;
}

volley_effects volley_schedule::on_capacity(const std::string& model,
                                            std::uint32_t most) {
  volley_effects out;
  const auto found = lanes_.find(model);
  if (found == lanes_.end()) return out;
  found->second.reported = std::min(limits_.workers, most);
  fill(out);
  return out;
}

volley_effects volley_schedule::on_time(time_point now) {
  volley_effects out;
  if (look_for_room_ && *look_for_room_ <= now) {
    room_ = std::min(limits_.workers, std::max<std::uint32_t>(1, room_ * 2));
    look_for_room_ = now + room_pause;
    if (room_ == limits_.workers) look_for_room_.reset();
  }
  while (!pauses_.empty() && pauses_.begin()->first <= now) {
    const auto task = pauses_.begin()->second;
    pauses_.erase(pauses_.begin());
    tasks_[task].now = state::waiting;
    lane_of(task).ready.insert(task);
  }
  fill(out);
  return out;
}

volley_effects volley_schedule::cancel() {
  volley_effects out;
  if (!stopped_) cancelled_ = true;
  stop(out);
  return out;
}

std::optional<time_point> volley_schedule::wake() const {
  if (pauses_.empty()) return look_for_room_;
  const auto pause = pauses_.begin()->first;
  return look_for_room_ ? std::min(pause, *look_for_room_) : pause;
}

/// Of the first task that may begin now; null: none may.
volley_schedule::lane* volley_schedule::next_lane() {
  if (stopped_ || running_ >= room_) return nullptr;
  lane* first = nullptr;
  for (auto& [model, x] : lanes_) {
    if (x.ready.empty() || x.running >= x.most()) continue;
    if (!first || *x.ready.begin() < *first->ready.begin()) first = &x;
  }
  return first;
}

void volley_schedule::fill(volley_effects& out) {
  while (auto* of = next_lane()) {
    const auto task = *of->ready.begin();
    of->ready.erase(of->ready.begin());
    auto& x = tasks_[task];
    x.now = state::running;
    ++x.begun;
    ++of->running;
    ++running_;
    out.emplace_back(start_task{task, ++x.what.attempts});
  }
}

/// The next one of its chain has its turn.
void volley_schedule::end(std::size_t task, volley_effects& out, bool left) {
  tasks_[task].now = state::over;
  out.emplace_back(task_over{task, tasks_[task].begun > 0, left});
  const auto chain = chains_.find(tasks_[task].what.chain);
  if (chain != chains_.end() && !chain->second.empty()) {
    const auto next = chain->second.front();
    lane_of(next).ready.insert(next);
    chain->second.pop_front();
  }
  if (--left_ == 0) out.emplace_back(volley_over{});
}

void volley_schedule::stop(volley_effects& out) {
  if (std::exchange(stopped_, true)) return;
  for (auto& [model, x] : lanes_) x.ready.clear();
  pauses_.clear();
  look_for_room_.reset();
  chains_.clear();
  for (std::size_t i = 0; i < tasks_.size(); ++i)
    if (tasks_[i].now == state::running) out.emplace_back(cancel_task{i});
  // Last, since the end of the last one ends the volley.
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const auto now = tasks_[i].now;
    if (now == state::waiting || now == state::pausing)
      end(i, out, cancelled_ && tasks_[i].begun > 0);
  }
}

}  // namespace riffle::core
