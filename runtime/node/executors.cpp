// SPDX-License-Identifier: MIT
// Where a process blocks: what must not wait for each other has threads of its
// own.
#include <chrono>
#include <cstddef>
#include <memory>

#include "runtime/base/log.hpp"
#include "runtime/node/node.hpp"

namespace riffle {

namespace {

/// Threads on which tools are asked about calls, made as they are needed: they
/// answer soon. One run gets at most so many of them, for what hangs keeps its.
constexpr std::size_t look_threads = 16;
constexpr std::size_t looks_of_a_run = 2;

/// Threads on which specs are made; those of a model whose key does not come
/// keep theirs, and others begin meanwhile.
constexpr std::size_t spec_threads = 16;

}  // namespace

void node::open_executors() {
  blocking_ = std::make_shared<blocking_executor>(config_->runtime.max_calls);
  side_executor_ = std::make_shared<blocking_executor>(4);
  look_executor_ =
      std::make_shared<blocking_executor>(look_threads, looks_of_a_run);
  waiting_executor_ = std::make_shared<blocking_executor>(4);
  spec_executor_ = std::make_shared<blocking_executor>(spec_threads);
  late_executor_ = std::make_shared<blocking_executor>(spec_threads);
}

bool node::close_executors() {
  constexpr auto limit = std::chrono::seconds{5};
  const bool looks_ended = look_executor_->close(limit);
  const bool tools_ended = blocking_->close(limit) && looks_ended;
  const bool waits_ended = waiting_executor_->close(limit);
  const bool late_ended = late_executor_->close(limit);
  const bool specs_ended = spec_executor_->close(limit) && late_ended;
  const bool rest_ended = side_executor_->close(limit);
  if (!tools_ended)
    log_warn("node", "a tool does not end: its thread is left behind");
  return tools_ended && waits_ended && specs_ended && rest_ended;
}

}  // namespace riffle
