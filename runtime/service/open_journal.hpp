// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/config/config.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle::service {

enum class journal_use : std::uint8_t {
  reads,    ///< also in a folder that cannot be written
  changes,  ///< deletes, decides, cancels
};

/// The journal of the data folder, or null if there is none yet: looking must
/// not make one, nor start a runtime.
expected<std::shared_ptr<storage::journal>> open_journal(
    const config::config& settings, journal_use use);

}  // namespace riffle::service
