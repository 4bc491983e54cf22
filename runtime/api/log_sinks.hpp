// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "runtime/base/log.hpp"

namespace riffle {

/// The log is the process's, so with several runtimes each one's sink gets all
/// lines. It does until the handle goes; after the last one they go to
/// standard error again. Not from inside a sink. Thread-safe.
std::shared_ptr<void> add_log_sink(log_sink sink);

}  // namespace riffle
