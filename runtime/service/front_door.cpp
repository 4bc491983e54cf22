// SPDX-License-Identifier: MIT
#include "runtime/service/front_door.hpp"

#include <utility>

#include "messages/type_ids.hpp"
#include "runtime/service/volley_run.hpp"

namespace riffle::service {

namespace {

constexpr const char* runtime_op = "runtime";

/// Longest wait for the registry's answer; covers the store's own deadline.
constexpr auto answer_deadline = std::chrono::seconds{90};

}  // namespace

void front_door::start(const run_spec_ptr& spec, const subscriber_ptr& who,
                       std::optional<core::end_request> end,
                       const reply<run_opened>& to) {
  ask(caf::make_message(start_run{spec, who, std::move(end)}), {spec->run, who},
      to);
}

void front_door::resume(const run_spec_ptr& spec, const subscriber_ptr& who,
                        std::optional<core::end_request> end,
                        const reply<run_opened>& to) {
  ask(caf::make_message(resume_run{spec, who, std::move(end)}),
      {spec->run, who}, to);
}

/// An actor for each question: it has a mailbox for the answer and its
/// deadline, so nobody waits.
void front_door::ask(const caf::message& request, const withdraw_run& if_silent,
                     const reply<run_opened>& to) {
  vitals_->add(if_silent.who);
  if (auto why = failure()) return to(unexpected{std::move(*why)});
  const auto registry = this->registry();
  if (!registry) return;  // and `to` says it
  const auto refuse = [to, alive = vitals_](error why) {
    auto dead = alive->failure();
    to(unexpected{dead ? std::move(*dead) : std::move(why)});
  };
  actors_->spawn([=](caf::event_based_actor* self) {
    self->request(caf::actor_cast<caf::actor>(registry), answer_deadline,
                  request)
        .then(
            [=](run_opened& x) {
              if (x.failure) return refuse(std::move(*x.failure));
              to(std::move(x));
            },
            [=](caf::error& e) {
              // What was asked for is under way: nothing may be left of it.
              self->send(registry, if_silent);
              refuse(
                  {errc::internal, runtime_op,
                   "the registry did not answer: " + self->system().render(e)});
            });
  });
}

run_registry_actor front_door::registry() {
  const std::lock_guard lock{mutex_};
  return registry_;
}

command_inbox_actor front_door::inbox() {
  const std::lock_guard lock{mutex_};
  return inbox_;
}

void front_door::cut() {
  for (const auto& x : living_volleys()) x->cut();
  const std::lock_guard lock{mutex_};
  registry_ = nullptr;
  inbox_ = nullptr;
}

void front_door::begin(const std::shared_ptr<volley_run>& x,
                       const volley_setup& setup) {
  {
    const std::lock_guard lock{mutex_};
    if (!closed_ && registry_) {
      std::erase_if(volleys_, [](const auto& y) { return y.expired(); });
      volleys_.push_back(x);
      const auto scheduler = spawn_volley_scheduler(*actors_, setup);
      x->attach(scheduler);
      caf::anon_send(scheduler, begin_volley{});
      return;
    }
  }
  x->all_over("the runtime has ended");
}

std::vector<std::shared_ptr<volley_run>> front_door::living_volleys() {
  const std::lock_guard lock{mutex_};
  closed_ = true;
  std::vector<std::shared_ptr<volley_run>> out;
  for (const auto& x : volleys_)
    if (auto alive = x.lock()) out.push_back(std::move(alive));
  return out;
}

void front_door::attach(const run_id& run, subscriber_ptr who) {
  if (!vitals_->add(who)) return;
  if (const auto to = registry())
    caf::anon_send(to, attach_subscriber{run, std::move(who)});
}

void front_door::cancel(const run_id& run, error why, bool cancelled) {
  if (const auto to = registry())
    caf::anon_send(to, cancel_run{run, std::move(why), cancelled});
}

void front_door::cancel(const run_id& run, const call_id& call,
                        std::string by) {
  if (const auto to = registry())
    caf::anon_send(to, cancel_call{run, call, std::move(by)});
}

void front_door::tell(const run_id& run, std::string text,
                      const reply<void>& to) {
  constexpr auto longest = std::chrono::seconds{10};
  const auto registry = this->registry();
  if (!registry) return;  // and `to` says it
  actors_->spawn(
      [=, x = tell_run{run, std::move(text)}](caf::event_based_actor* self) {
        self->request(registry, longest, x)
            .then(
                [=](run_told& y) {
                  if (y.refused) return to(unexpected{std::move(*y.refused)});
                  to({});
                },
                [=](const caf::error&) {
                  to(unexpected{error{errc::invalid_request, runtime_op,
                                      "the run did not take it"}});
                });
      });
}

void front_door::tell(storage::decision_record x) {
  if (const auto to = inbox()) caf::anon_send(to, decision_known{std::move(x)});
}

void front_door::queue(const storage::proposal_state& cause) {
  if (const auto to = inbox()) caf::anon_send(to, queued_cause{cause});
}

bool front_door::close(duration limit) {
  for (const auto& x : living_volleys()) x->cancel("the runtime ends");
  const auto to = registry();
  if (!to) return true;
  bool ended = false;
  caf::scoped_actor self{*actors_};
  self->request(to, limit, shut_down{})
      .receive([&](all_ended&) { ended = true; }, [](caf::error&) {});
  return ended;
}

}  // namespace riffle::service
