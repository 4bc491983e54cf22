// SPDX-License-Identifier: MIT
#pragma once

// Where a node keeps whole outputs of others' calls until their origins have
// them. No session here names these files, so nobody would ever delete what a
// node that was killed had of them.

#include <filesystem>
#include <memory>

#include "messages/error.hpp"
#include "runtime/base/unique_fd.hpp"

namespace riffle {

/// A folder of this process's own, locked while it lives and removed at its
/// end.
class hosted_outputs {
 public:
  /// Makes it in `all`, and removes there those of processes that are dead.
  static expected<std::unique_ptr<hosted_outputs>> open(
      const std::filesystem::path& all);

  hosted_outputs(std::filesystem::path folder, unique_fd lock);
  ~hosted_outputs();
  hosted_outputs(const hosted_outputs&) = delete;
  hosted_outputs& operator=(const hosted_outputs&) = delete;

  [[nodiscard]] const std::filesystem::path& folder() const noexcept {
    return folder_;
  }

 private:
  std::filesystem::path folder_;
  unique_fd lock_;
};

}  // namespace riffle
