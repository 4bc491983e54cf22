// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "runtime/config/config.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle::cli {

/// The journal of the data folder, or null if there is none yet: looking must
/// not make one, nor start a runtime.
expected<std::unique_ptr<storage::journal>> journal_at(
    const config::config& settings);

}  // namespace riffle::cli
