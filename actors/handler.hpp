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

/// For an actor that serves all runs and has no named handlers: an exception in
/// any of them ends it, and its text goes to the log, since CAF would print it
/// where answers stand.
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

/// Of a run's actor in its spec, of a process's in its set-up.
template <class State>
const fault_hook& faults_of(const State& x) {
  if constexpr (requires { x.setup.faults; })
    return x.setup.faults;
  else
    return x.spec->faults;
}

/// The handler for messages of type `X`: calls `state.on(X&)` as above.
template <class X, class Self>
auto handle(Self* self, const char* name) {
  return [self, name](X& x) {
    run_handler(self, faults_of(self->state), name, [&] { self->state.on(x); });
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
