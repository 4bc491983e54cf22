// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/storage/proposal.hpp"

namespace riffle::storage {

/// Whether no run waits for it: what is approved, a run of its own executes.
inline bool is_for_later(const proposal_record& x) {
  return x.source == events::proposal_source::tool_call && !x.waits;
}

/// Whether it was approved, and that run has yet to be started.
inline bool awaits_execution(const proposal_state& x) {
  return is_for_later(x.what) && x.decided &&
         x.decided->how == events::proposal_outcome::approved &&
         x.executed_by.empty();
}

}  // namespace riffle::storage
