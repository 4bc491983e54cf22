// SPDX-License-Identifier: MIT
// What the layers above may ask of a process.
#include "runtime/node/node.hpp"

namespace riffle {

node::use_cases node::serve(std::shared_ptr<executor> where) const {
  const std::shared_ptr<executor> making = where ? spec_executor_ : nullptr;
  const service::runs runs{door_, specs_, journal_, where, making};
  // A volley's scheduler is an actor: its runs are put together elsewhere.
  const service::runs aside{door_, specs_, journal_, side_executor_,
                            spec_executor_};
  return {runs,
          {journal_, outputs_, volley_locks_},
          service::proposals{journal_},
          {{journal_, [all = tools_] { return all->now(); }, config_, door_},
           runs,
           where},
          {aside, journal_, door_, side_executor_, volley_locks_},
          service::prompts{servers_}};
}

}  // namespace riffle
