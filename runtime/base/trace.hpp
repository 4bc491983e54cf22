// SPDX-License-Identifier: MIT
#pragma once

// Trace contexts (W3C): what a run's calls tell servers of where they belong.

#include <string>
#include <string_view>

#include "messages/ids.hpp"

namespace riffle {

/// Whether that is a `traceparent` of version 00.
bool is_traceparent(std::string_view text) noexcept;

/// Whoever asked for the run sent that. Kept for the newest 10,000 runs of this
/// process.
void keep_trace(const run_id& run, std::string traceparent);

/// What whoever asked for `whole` sent goes for a part of it, too.
void share_trace(const run_id& whole, const run_id& part);

/// The `traceparent` of a run's calls: that of its client, else one whose trace
/// and parent are the run itself: digits 1 to 32 and 33 to 48 of the SHA-256 of
/// its id.
std::string trace_of(const run_id& run);

/// What this thread does meanwhile belongs to the run, which outlives it.
class trace_scope {
 public:
  explicit trace_scope(const run_id& run) noexcept;
  ~trace_scope();
  trace_scope(const trace_scope&) = delete;
  trace_scope& operator=(const trace_scope&) = delete;

 private:
  const run_id* before_;
};

/// Empty: this thread works for no run.
std::string current_trace();

}  // namespace riffle
