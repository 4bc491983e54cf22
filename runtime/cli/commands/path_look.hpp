// SPDX-License-Identifier: MIT
#pragma once

// Looks for paths beside the keys: a file system may be slow, or hang, and a
// folder may have a million files.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cli/view/chat_offer.hpp"

namespace riffle::cli {

/// Does it on a thread that nobody waits for. False, and nothing is done: too
/// many of these have not come back.
bool do_beside(std::function<void()> work);

/// One look, from when it is made; it is given up with the last of its copies.
/// What it has found by now can be read at any time.
class path_look {
 public:
  struct bounds {
    std::uint64_t most_seen = 100'000;
    std::size_t most_names = 100'000;  ///< of one folder
    std::chrono::milliseconds longest{5000};
  };
  struct found {
    std::vector<path_piece> pieces{};
    bool over = false;
    bool cut = false;  ///< there is more than was looked at
  };

  /// What is in a folder ("", "a/", "/etc/", "../"), as the names of paths.
  static path_look in_folder(std::string folder, bounds x);
  /// All of this folder that git does not ignore; what is hidden, too.
  static path_look in_tree(bool hidden, bounds x);

  [[nodiscard]] found by_now() const;

 private:
  struct state;
  explicit path_look(std::shared_ptr<state> x);
  static path_look begin(bounds x, std::function<bool(state&)> look);

  std::shared_ptr<state> state_;
  std::shared_ptr<void> stops_;  ///< with the last copy
};

}  // namespace riffle::cli
