// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/storage/journal.hpp"

namespace riffle::storage {

/// `make_memory_journal()` keeps everything. This one keeps the logs and
/// outputs of the `finished_runs` runs that finished last, so that a process
/// of many runs stays small; records and messages of a session stay, they are
/// its conversation.
std::unique_ptr<journal> make_memory_journal(std::size_t finished_runs);

}  // namespace riffle::storage
