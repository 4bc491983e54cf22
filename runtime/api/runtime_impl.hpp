// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <memory>

#include "runtime/api/readers.hpp"
#include "runtime/api/riffle.hpp"
#include "runtime/api/runtime_link.hpp"
#include "runtime/node/node.hpp"

namespace riffle {

/// What is behind the handle.
struct runtime::impl {
  std::shared_ptr<void> log;  ///< outlives all that logs
  std::unique_ptr<node> owner;
  /// While the owner is there. Each blocks here or answers by messages.
  std::optional<node::use_cases> uses;
  std::shared_ptr<runtime_link> link;

  template <class How>
  expected<run> open(event_handler on_events, const std::stop_token& stop,
                     How how);
  run handle(const run_opened& opened,
             std::shared_ptr<handler_reader> reader) const;

  void end() {
    owner->close(end_limit);
    link->cut(end_limit);
    uses.reset();
    owner.reset();
  }
  static constexpr auto end_limit = std::chrono::seconds{5};
};

}  // namespace riffle
