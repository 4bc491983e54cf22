// SPDX-License-Identifier: MIT
// Work that goes on although nobody hears from it: a part of the dispatch
// queue. What it touches stays touched until it has ended.
#include "actors/core/dispatch_detail.hpp"
#include "actors/core/dispatch_queue.hpp"

namespace riffle::core {

using namespace dispatch_detail;

call_result dispatch_queue::still_at_work(const entry& x,
                                          const std::string& why) {
  return failed(outcome::interrupted,
                {errc::interrupted, op,
                 why + " while this call was under way; it may still be "
                       "running, and its outcome is unknown"},
                x.attempt);
}

dispatch_effects dispatch_queue::on_work_orphaned(const call_id& id,
                                                  std::uint32_t attempt,
                                                  const std::string& reason,
                                                  time_point now) {
  dispatch_effects out;
  auto* x = current(id, attempt);
  if (x == nullptr) {
    start_what_can(out, now);
    return out;
  }
  x->orphaned = true;
  settle(*x,
         x->at == phase::stopping
             ? failed(x->stop_as, *x->stop_error, attempt)
             : still_at_work(*x, "the tool's worker was lost (" + reason + ")"),
         out);
  start_what_can(out, now);
  finish_drain(out);
  return out;
}

dispatch_effects dispatch_queue::on_work_returned(const call_id& id,
                                                  std::uint32_t attempt,
                                                  time_point now) {
  dispatch_effects out;
  auto* x = find(id);
  if (x == nullptr || !x->orphaned || x->attempt != attempt) return out;
  end_work(*x);
  start_what_can(out, now);
  return out;
}

}  // namespace riffle::core
