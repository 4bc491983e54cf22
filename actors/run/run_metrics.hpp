// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <utility>

#include "messages/event.hpp"
#include "messages/time.hpp"

namespace riffle {

/// Measures what the events of a run or a plan say (runtime/base/metrics.hpp):
/// the one place where events become metrics. Costs a load of an atomic where
/// nobody reads.
class event_meter {
 public:
  /// What they say nothing of: whose they are. Empty: no agent's.
  void set_agent(std::string name) { agent_ = std::move(name); }

  /// Once for each event, as it is written.
  void take(const events::body& x, time_point now);

 private:
  void take_question(const events::body& x, time_point now);

  std::string agent_;
  std::map<proposal_id, time_point> asked_;  ///< questions that are open
};

}  // namespace riffle
