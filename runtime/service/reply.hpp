// SPDX-License-Identifier: MIT
#pragma once

// How use cases answer: once, on a thread of the runtime, so that no caller's
// thread has to wait. Who may wait uses `wait_for`.

#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "messages/error.hpp"
#include "runtime/base/executor.hpp"

namespace riffle::service {

/// The place of one answer. Copies share it; the first answer counts. When
/// the last copy goes without one, the runtime has ended: `cancelled`. What
/// it calls must return soon and must not throw.
template <class T>
class reply {
 public:
  using function = std::function<void(expected<T>)>;

  explicit reply(function to) : place_{std::make_shared<place>(to)} {}

  void operator()(expected<T> x) const { place_->answer(std::move(x)); }

 private:
  struct place {
    explicit place(function to) : f{to} {}
    ~place() {
      answer(unexpected{
          error{errc::cancelled, "runtime", "the runtime has ended"}});
    }
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    void answer(expected<T> x) {
      if (const auto once = std::exchange(f, nullptr)) once(std::move(x));
    }
    function f;
  };
  std::shared_ptr<place> place_;
};

/// Calls `ask` with a place for its answer and blocks until it is there. Each
/// use case has a deadline of its own, so this ends.
template <class T, class Ask>
expected<T> wait_for(Ask ask) {
  // Shared: who answers may still be in `set_value` when the answer is read.
  const auto place = std::make_shared<std::promise<expected<T>>>();
  auto answer = place->get_future();
  ask(reply<T>{[place](expected<T> x) { place->set_value(std::move(x)); }});
  return answer.get();
}

/// Answers with what `work` returns, on `where`; null: here, before it returns.
template <class T, class Work>
void answer_on(executor* where, Work work, const reply<T>& to) {
  if (where == nullptr) return to(work());
  try {
    where->submit([work = std::move(work), to]() mutable {
      try {
        to(work());
      } catch (const std::exception& e) {
        to(unexpected{error{errc::internal, "runtime", e.what()}});
      }
    });
  } catch (const std::exception& e) {  // there is no thread, and none to be had
    to(unexpected{error{errc::internal, "runtime", e.what()}});
  }
}

}  // namespace riffle::service
