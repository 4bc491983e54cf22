// SPDX-License-Identifier: MIT
#pragma once

// What the tests of the checker share: a log that is right, and ways to make
// it wrong.

#include <cstddef>
#include <functional>
#include <sstream>
#include <string>

#include "messages/event_check.hpp"
#include "tests/support/event_log_builder.hpp"

namespace riffle::testing {

inline check_report check(const event_log& log,
                          event_check_options options = {}) {
  std::istringstream text{to_text(log)};
  return check_events(text, options);
}

// The number of the promise that the log breaks first; 0 if it keeps all.
inline int broken(const event_log& log) {
  const auto report = check(log);
  return report.ok() ? 0 : report.violations.front().promise;
}

inline std::string first_text(const event_log& log) {
  const auto report = check(log);
  return report.ok() ? "" : render(report.violations.front());
}

// Two steps, calls in parallel, an approval, a restart, an answer.
inline event_log full_log() {
  return event_log_builder{}
      .start()
      .step()                        // 2
      .text("Let me ")               // 3
      .restart()                     // 4
      .status()                      // 5
      .reasoning("hm")               // 6
      .text("look. ")                // 7
      .call("a")                     // 8
      .call("b", "grep")             // 9
      .progress("b")                 // 10
      .progress("a")                 // 11
      .ask("w")                      // 12
      .result("b")                   // 13
      .decide("w")                   // 14
      .call("w", "write")            // 15
      .result("a", outcome::failed)  // 16
      .result("w")                   // 17
      .usage()                       // 18
      .retry()                       // 19
      .step()                        // 20
      .text("All ")                  // 21
      .text("done.")                 // 22
      .usage()                       // 23
      .answer()                      // 24
      .finish();                     // 25
}

template <class Body>
Body& get(event_log& log, std::size_t n = 0) {
  return std::get<Body>(log.at(find_event<Body>(log, n)).body);
}

template <class Body>
event_log without(event_log log, std::size_t n = 0) {
  log.erase(log.begin() +
            static_cast<std::ptrdiff_t>(find_event<Body>(log, n)));
  renumber(log);
  return log;
}

template <class Body>
event_log twice(event_log log, std::size_t n = 0) {
  const auto at = static_cast<std::ptrdiff_t>(find_event<Body>(log, n));
  log.insert(log.begin() + at, log[static_cast<std::size_t>(at)]);
  renumber(log);
  return log;
}

// Moves the event with this `seq` to the place of another.
inline event_log moved(event_log log, std::size_t seq, std::size_t to) {
  auto x = log.at(seq - 1);
  log.erase(log.begin() + static_cast<std::ptrdiff_t>(seq - 1));
  log.insert(log.begin() + static_cast<std::ptrdiff_t>(to - 1), x);
  renumber(log);
  return log;
}

inline event_log changed(event_log log,
                         const std::function<void(event_log&)>& f) {
  f(log);
  return log;
}

}  // namespace riffle::testing
