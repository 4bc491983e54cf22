// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <optional>
#include <string>

#include <caf/all.hpp>

#include "actors/run/run_spec.hpp"
#include "runtime/base/log.hpp"

namespace riffle {

/// Runs one handler. An exception ends the actor (of a run: by its links the
/// run's other actors too), which its supervisor notices; its text
/// goes to the log, since CAF would lose it. `name`: "actor.handler", for the
/// log and for tests.
template <class Self, class F>
void run_handler(Self* self, const fault_hook& faults, const char* name, F f) {
  std::string what;
  try {
    if (faults) faults(name);
    f();
    return;
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
    what = "unknown exception";
  }
  log_error(name, what);
  self->quit(caf::make_error(caf::sec::runtime_error, std::string{name}, what));
}

/// The same for a handler that answers: an exception is the answer too.
template <class R, class Self, class F>
caf::result<R> run_request(Self* self, const fault_hook& faults,
                           const char* name, F f) {
  std::optional<caf::result<R>> answer;
  run_handler(self, faults, name, [&] { answer.emplace(f()); });
  if (answer) return std::move(*answer);
  return caf::make_error(caf::sec::runtime_error, std::string{name});
}

/// What an exception outside of these does: it ends the actor, and its text
/// goes to the log, since CAF would print it where answers stand.
inline void log_exceptions(caf::scheduled_actor* self) {
  self->set_exception_handler(
      [](caf::scheduled_actor* me, std::exception_ptr& x) -> caf::error {
        std::string what = "unknown exception";
        try {
          std::rethrow_exception(x);
        } catch (const std::exception& e) {
          what = e.what();
        } catch (...) {  // that is all that is known
        }
        log_error(me->name(), what);
        return caf::make_error(caf::sec::runtime_error, std::string{me->name()},
                               what);
      });
}

inline const fault_hook no_faults;

/// What tests set: of a run's actor in its spec, of a process's in its set-up.
template <class State>
const fault_hook& faults_of(const State& x) {
  if constexpr (requires { x.setup.faults; })
    return x.setup.faults;
  else if constexpr (requires { x.limits.faults; })
    return x.limits.faults;
  else if constexpr (requires { x.spec->faults; })
    return x.spec->faults;
  else if constexpr (requires { x.faults; })
    return x.faults;
  else
    return no_faults;
}

/// The handler for messages of the types `Xs`: calls `state.on(Xs&...)` as
/// above. All actors take their messages by this one or the next.
template <class... Xs, class Self>
auto handle(Self* self, const char* name) {
  return [self, name](Xs&... xs) {
    run_handler(self, faults_of(self->state), name,
                [&] { self->state.on(xs...); });
  };
}

/// The same of a request that is answered with an `R`.
template <class R, class X, class Self>
auto handle_request(Self* self, const char* name) {
  return [self, name](X& x) {
    return run_request<R>(self, faults_of(self->state), name,
                          [&] { return self->state.on(x); });
  };
}

}  // namespace riffle
