// SPDX-License-Identifier: MIT
#pragma once

// A run works in the folder of the process that began it. Whoever goes on with
// it, or executes what it proposed, does so there or not at all.

#include <cstdint>
#include <string>

#include "messages/error.hpp"

namespace riffle::service {

enum class folder_state : std::uint8_t {
  here,       ///< this process's working directory, or not on record
  elsewhere,  ///< another folder
  gone,       ///< there is no such folder any more
};

folder_state find_folder(const std::string& folder);

/// `invalid_request` unless it is here; says where, and what to do. `what` is
/// e.g. "proposal prop_1".
expected<void> check_folder(const std::string& folder, const std::string& what);

}  // namespace riffle::service
