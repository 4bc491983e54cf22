// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <memory>

#include "runtime/api/riffle.hpp"
#include "runtime/api/runtime_link.hpp"
#include "runtime/node/node.hpp"

namespace riffle {

/// What is behind the handle.
struct runtime::impl {
  std::shared_ptr<void> log;  ///< outlives all that logs
  std::unique_ptr<node> owner;
  std::shared_ptr<runtime_link> link;

  void end() {
    owner->close(end_limit);
    link->cut(end_limit);
    owner.reset();
  }
  static constexpr auto end_limit = std::chrono::seconds{5};
};

}  // namespace riffle
