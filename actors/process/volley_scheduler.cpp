// SPDX-License-Identifier: MIT
#include "actors/process/volley_scheduler.hpp"

#include <utility>

#include "actors/end_reason.hpp"
#include "actors/handler.hpp"

namespace riffle {

namespace {

struct volley_scheduler_state {
  static inline const char* name = "volley_scheduler";
  explicit volley_scheduler_state(volley_scheduler_actor::pointer me)
      : self{me} {}

  [[nodiscard]] time_point now() const { return self->clock().now(); }

  void apply(const core::volley_effects& effects) {
    for (const auto& x : effects)
      std::visit([this](const auto& y) { act(y); }, x);
    wait();
  }

  void act(const core::start_task& x) { port->start(x.task, x.attempt); }
  void act(const core::cancel_task& x) { port->cancel(x.task, reason); }
  void act(const core::task_over& x) { port->over(x.task, x.ran, x.left); }
  void act(const core::volley_over&) {
    over = true;
    port->all_over(std::nullopt);
    self->quit();
  }

  /// One timer for the pause that is over first.
  void wait() {
    const auto due = schedule->wake();
    if (over || !due || (timer && *timer <= *due)) return;
    timer = due;
    const auto left = std::max(*due - now(), duration{});
    self->delayed_send(self, left, volley_pause_over{});
  }

  void on(const begin_volley&) { apply(schedule->begin(now())); }
  void on(const task_ended& x) {
    const auto chance = std::uniform_real_distribution<double>{}(random);
    apply(schedule->on_end(x.task, x.how, now(), chance));
  }
  void on(cancel_volley& x) {
    reason = std::move(x.reason);
    apply(schedule->cancel());
  }
  void on(const capacity_known& x) {
    apply(schedule->on_capacity(x.model, x.most));
  }
  void on(const volley_pause_over&) {
    timer.reset();
    apply(schedule->on_time(now()));
  }

  volley_scheduler_actor::pointer self;
  std::optional<core::volley_schedule> schedule;
  std::shared_ptr<volley_port> port;
  fault_hook faults;
  std::mt19937_64 random{std::random_device{}()};
  std::optional<time_point> timer;
  std::string reason;
  bool over = false;
};

volley_scheduler_actor::behavior_type volley_scheduler(
    volley_scheduler_actor::stateful_pointer<volley_scheduler_state> self,
    volley_setup setup) {
  log_exceptions(self);
  auto& st = self->state;
  st.schedule.emplace(setup.limits, std::move(setup.tasks));
  st.port = std::move(setup.port);
  st.faults = std::move(setup.faults);
  // Whoever waits for the volley is told, however it ends.
  self->attach_functor([port = st.port](const caf::error& why) {
    port->all_over(describe_end(why));
  });
  return {
      handle<const begin_volley>(self, "volley_scheduler.begin"),
      handle<const task_ended>(self, "volley_scheduler.ended"),
      handle<cancel_volley>(self, "volley_scheduler.cancel"),
      handle<const capacity_known>(self, "volley_scheduler.capacity"),
      handle<const volley_pause_over>(self, "volley_scheduler.pause_over"),
  };
}

}  // namespace

volley_scheduler_actor spawn_volley_scheduler(caf::actor_system& system,
                                              volley_setup setup) {
  return system.spawn(volley_scheduler, std::move(setup));
}

}  // namespace riffle
