// SPDX-License-Identifier: MIT
#pragma once

// Which processes live: each holds a lock (flock) on a file of its own for as
// long as it lives. The kernel frees it at any death, so there are no pids to
// be reused and no heartbeats to be missed.

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "messages/error.hpp"
#include "runtime/base/unique_fd.hpp"

namespace riffle::storage {

/// This process's mark of life: `folder/<id>`, locked until the end of this
/// object's life (then removed) or of the process. Children do not inherit it.
class owner_lock {
 public:
  /// Makes the folder (mode 0700) if it is missing, and a new id.
  static expected<owner_lock> create(const std::filesystem::path& folder);

  owner_lock(owner_lock&&) noexcept = default;
  owner_lock& operator=(owner_lock&&) noexcept = delete;
  ~owner_lock();

  [[nodiscard]] const std::string& id() const noexcept { return id_; }

 private:
  owner_lock(std::filesystem::path file, std::string id, unique_fd fd);

  std::filesystem::path file_;
  std::string id_;
  unique_fd fd_;
};

/// Whether the process with this mark lives. A missing file: no. A file that
/// cannot be asked: yes, to be safe.
bool owner_lives(const std::filesystem::path& folder, std::string_view id);

/// What people read about an owner, e.g. "process 4711"; the file holds it. Of
/// one that cannot be asked: why not.
std::string describe_owner(const std::filesystem::path& folder,
                           std::string_view id);

/// Removes the marks of dead owners, a few hundred at most. Returns whether
/// any other owner than `self` lives. Callers of this and of `create` hold the
/// lock of a folder that all of them share (`lock_folder`).
bool sweep_owners(const std::filesystem::path& folder, std::string_view self);

/// Makes a folder with its parents; the folder itself gets mode 0700.
expected<void> make_private_folder(const std::filesystem::path& folder);

/// Locks a folder itself, waiting for at most `timeout`. Behind it the error
/// names who holds it, and is `retryable`.
expected<unique_fd> lock_folder(const std::filesystem::path& folder,
                                std::chrono::milliseconds timeout);

}  // namespace riffle::storage
