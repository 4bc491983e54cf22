// SPDX-License-Identifier: MIT
#pragma once

// Looks for paths beside the keys.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/cli/commands/beside.hpp"
#include "runtime/cli/view/chat_offer.hpp"

namespace riffle::cli {

struct look_bounds {
  std::uint64_t most_seen = 100'000;
  std::size_t most_names = 100'000;  ///< of one folder
  std::chrono::milliseconds longest{5000};
};

using path_look = beside_look<std::vector<path_piece>>;

/// What is in a folder ("", "a/", "/etc/", "../"), as the names of paths.
path_look look_in_folder(std::string folder, look_bounds x);
/// All of this folder that git does not ignore; what is hidden, too.
path_look look_in_tree(bool hidden, look_bounds x);

}  // namespace riffle::cli
