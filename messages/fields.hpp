// SPDX-License-Identifier: MIT
#pragma once

// The fields of what crosses a wire, in the order in which they do. The one
// list for both wires: CAF's (inspect.hpp) and the pipe of a child process
// (tools/process/worker_pipe.hpp). They go without names, for both ends run the
// same `work::version`: whoever changes a list, changes that.

#include <tuple>

#include "messages/error.hpp"
#include "messages/work.hpp"

namespace riffle {

inline auto fields(error& x) {
  return std::tie(x.code, x.op, x.message, x.retryable, x.cause);
}

inline auto fields(call_limits& x) {
  return std::tie(x.timeout, x.idle_timeout, x.queue_timeout, x.attempts,
                  x.priority);
}

inline auto fields(tool_call& x) {
  return std::tie(x.id, x.provider_id, x.tool, x.title, x.arguments,
                  x.arguments_text, x.edited_from, x.eff, x.idempotent,
                  x.control, x.needs_approval, x.step, x.index, x.keys,
                  x.limits, x.judged, x.rejection, x.basis, x.node);
}

inline auto fields(attachment& x) {
  return std::tie(x.name, x.type, x.bytes, x.digest);
}

inline auto fields(taken_files& x) { return std::tie(x.types, x.most_bytes); }

inline auto fields(result_file& x) { return std::tie(x.about, x.bytes); }

inline auto fields(call_result& x) {
  return std::tie(x.how, x.output, x.err, x.metadata, x.took, x.attempts,
                  x.files);
}

inline auto fields(tool_progress_report& x) {
  return std::tie(x.message, x.progress, x.total, x.stream, x.coalesced);
}

}  // namespace riffle

namespace riffle::work {

inline auto fields(offer& x) {
  return std::tie(x.version, x.tools, x.places, x.process, x.problem);
}

inline auto fields(assignment& x) {
  return std::tie(x.version, x.run, x.epoch, x.call, x.attempt, x.state,
                  x.files, x.workspace);
}

inline auto fields(stop& x) { return std::tie(x.id, x.attempt); }

inline auto fields(started& x) { return std::tie(x.id, x.attempt); }

inline auto fields(progress& x) {
  return std::tie(x.id, x.attempt, x.number, x.tool, x.report);
}

inline auto fields(ack& x) { return std::tie(x.id); }

inline auto fields(done& x) {
  return std::tie(x.id, x.attempt, x.result, x.last_progress, x.state, x.moved);
}

inline auto fields(lost& x) { return std::tie(x.id, x.attempt, x.reason); }

inline auto fields(freed& x) { return std::tie(x.id); }

}  // namespace riffle::work
