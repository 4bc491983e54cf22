// SPDX-License-Identifier: MIT
// Where a process blocks: what must not wait for each other has threads of its
// own.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

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

/// Threads on which they wait for servers, one each, as long as a server may
/// take: those that need another server must not stand behind them.
constexpr std::size_t late_threads = 512;

}  // namespace

std::size_t scheduler_threads(const config::runtime_config& x) {
  const auto cores = std::max(1u, std::thread::hardware_concurrency());
  return static_cast<std::size_t>(x.threads > 0 ? x.threads : cores);
}

/// All at once: a limit is on how many there are.
expected<void> try_threads(const config::runtime_config& x) {
  constexpr std::size_t beside_scheduler = 8;  // clocks, journal, side jobs
  const auto wanted = scheduler_threads(x) + beside_scheduler;
  std::latch enough{1};
  std::vector<std::jthread> all;
  std::string why;
  try {
    while (all.size() < wanted) all.emplace_back([&] { enough.wait(); });
  } catch (const std::exception& e) {
    why = e.what();
  }
  const auto had = all.size();
  enough.count_down();
  all.clear();
  if (why.empty()) return {};
  return unexpected{error{errc::invalid_config, "node",
                          "this process needs " + std::to_string(wanted) +
                              " threads to begin with, and got " +
                              std::to_string(had) + " (" + why +
                              "): see `ulimit -u`, `ulimit -v`, TasksMax, or "
                              "set runtime.threads lower"}};
}

void node::open_executors() {
  blocking_ = std::make_shared<blocking_executor>(config_->runtime.max_calls);
  side_executor_ = std::make_shared<blocking_executor>(4);
  look_executor_ =
      std::make_shared<blocking_executor>(look_threads, looks_of_a_run);
  waiting_executor_ = std::make_shared<blocking_executor>(4);
  spec_executor_ = std::make_shared<blocking_executor>(spec_threads);
  late_executor_ = std::make_shared<blocking_executor>(late_threads);
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
