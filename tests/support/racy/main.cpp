// SPDX-License-Identifier: MIT
// Races made on purpose, and the same without: what the thread sanitizer has
// to report, and what it must not, with caf_order in front of CAF. The actors
// pass on shared objects as ours do; `racy NAME` plays one scene.
#include <atomic>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include <caf/all.hpp>

#include "runtime/scheduler/lifo_slot.hpp"

struct box {
  std::shared_ptr<int> what;
  /// Who adds waits until so many are about to: then no lock that one of them
  /// takes later can order them by chance. A relaxed counter orders nothing.
  std::shared_ptr<std::atomic<int>> missing;
};

CAF_BEGIN_TYPE_ID_BLOCK(racy, first_custom_type_id)
CAF_ADD_TYPE_ID(racy, (box))
CAF_END_TYPE_ID_BLOCK(racy)

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(box)

namespace {

constexpr auto longest = std::chrono::minutes{1};

void add(const box& x) {
  x.missing->fetch_sub(1, std::memory_order_relaxed);
  while (x.missing->load(std::memory_order_relaxed) > 0)
    std::this_thread::yield();
  ++*x.what;
}

/// Adds to what is in the box and gives it back.
caf::behavior adder() {
  return {[](const box& x) {
    add(x);
    return x;
  }};
}

/// Adds and passes it on, to be answered from there; or (`wrong`) adds to what
/// it has given away.
caf::behavior passer(caf::event_based_actor* self, const caf::actor& to,
                     bool wrong) {
  return {[self, to, wrong](const box& x) {
    if (!wrong) add(x);
    auto promise = self->delegate(to, x);
    if (wrong) add(x);
    return promise;
  }};
}

/// One scene: actors, and who asks them.
struct scene {
  explicit scene(caf::actor_system& s) : system{s}, self{s} {}

  void ask(const caf::actor& who) { self->send(who, now); }
  /// The next `count` that add do it at the same time.
  void meet(int count) {
    now.missing = std::make_shared<std::atomic<int>>(count);
  }
  void wait_for(int answers) {
    for (int i = 0; i < answers; ++i)
      self->receive([](const box&) {},
                    caf::after(longest) >> [] { std::abort(); });
  }
  void end(const std::vector<caf::actor>& all) {
    for (const auto& x : all) self->send_exit(x, caf::exit_reason::kill);
    self->wait_for(all);
  }

  caf::actor_system& system;
  caf::scoped_actor self;
  std::shared_ptr<int> it = std::make_shared<int>(0);
  box now{it, std::make_shared<std::atomic<int>>(0)};
};

// -- right: nothing may be reported -------------------------------------------

void passed_on(scene& x) {
  auto last = x.system.spawn<caf::detached>(adder);
  auto first = x.system.spawn<caf::detached>(passer, last, false);
  ++*x.it;
  x.ask(first);
  x.wait_for(1);
  x.end({first, last});
}

/// Many turns of one actor, on whatever worker is free.
void turns_of_one(scene& x) {
  auto one = x.system.spawn(adder);
  for (int i = 0; i < 1000; ++i) x.ask(one);
  x.wait_for(1000);
  ++*x.it;
  x.end({one});
}

void asked_one_after_the_other(scene& x) {
  auto a = x.system.spawn<caf::detached>(adder);
  auto b = x.system.spawn<caf::detached>(adder);
  for (const auto& who : {a, b, a}) {
    x.ask(who);
    x.wait_for(1);
  }
  x.end({a, b});
}

// -- wrong: each has to be reported -------------------------------------------

void two_handlers(scene& x) {
  auto a = x.system.spawn<caf::detached>(adder);
  auto b = x.system.spawn<caf::detached>(adder);
  x.meet(2);
  x.ask(a);
  x.ask(b);
  x.wait_for(2);
  x.end({a, b});
}

void two_handlers_on_the_pool(scene& x) {
  auto a = x.system.spawn(adder);
  auto b = x.system.spawn(adder);
  x.meet(2);
  x.ask(a);
  x.ask(b);
  x.wait_for(2);
  x.end({a, b});
}

void touched_after_it_was_sent(scene& x) {
  auto last = x.system.spawn<caf::detached>(adder);
  auto first = x.system.spawn<caf::detached>(passer, last, true);
  x.meet(2);
  x.ask(first);
  x.wait_for(1);
  x.end({first, last});
}

void asker_and_handler(scene& x) {
  auto a = x.system.spawn<caf::detached>(adder);
  x.meet(2);
  x.ask(a);
  add(x.now);
  x.wait_for(1);
  x.end({a});
}

void thread_and_handler(scene& x) {
  auto a = x.system.spawn<caf::detached>(adder);
  x.meet(2);
  std::thread other{[mine = x.now] { add(mine); }};
  x.ask(a);
  x.wait_for(1);
  x.end({a});
  other.join();
}

/// Thousands of messages before it: what they ordered is over.
void after_much_traffic(scene& x) {
  auto a = x.system.spawn<caf::detached>(adder);
  auto b = x.system.spawn<caf::detached>(adder);
  for (int i = 0; i < 2000; ++i) {
    x.ask(i % 2 == 0 ? a : b);
    x.wait_for(1);
  }
  x.meet(2);
  x.ask(a);
  x.ask(b);
  x.wait_for(2);
  x.end({a, b});
}

struct racy_config : caf::actor_system_config {
  racy_config() {
    add_message_types<caf::id_block::racy>();
    riffle::use_lifo_slot(*this);  // as in production
    set("scheduler.max-threads", std::size_t{4});
  }
};

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void(scene&)>> scenes{
      {"passed_on", passed_on},
      {"turns_of_one", turns_of_one},
      {"asked_one_after_the_other", asked_one_after_the_other},
      {"two_handlers", two_handlers},
      {"two_handlers_on_the_pool", two_handlers_on_the_pool},
      {"touched_after_it_was_sent", touched_after_it_was_sent},
      {"asker_and_handler", asker_and_handler},
      {"thread_and_handler", thread_and_handler},
      {"after_much_traffic", after_much_traffic}};
  const auto found = scenes.find(argc == 2 ? argv[1] : "");
  if (found == scenes.end()) return 2;
  racy_config config;
  caf::actor_system system{config};
  scene x{system};
  found->second(x);
  std::cout << *x.it << '\n';
}
