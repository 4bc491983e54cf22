// SPDX-License-Identifier: MIT
#pragma once

// What is stored of a volley, and the lock of who works on it.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/unique_fd.hpp"
#include "runtime/service/requests.hpp"
#include "runtime/service/run_folder.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle::service {

/// What the id of a volley begins with.
inline constexpr std::string_view volley_prefix = "volley_";

[[nodiscard]] inline bool is_volley(std::string_view id) noexcept {
  return id.starts_with(volley_prefix);
}

/// Of its record, among the values of the session of its name.
inline constexpr const char* volley_key = "volley";

/// Why the others of a volley that fails fast are cancelled.
inline constexpr std::string_view failed_fast = "another task failed";

struct volley_record {
  volley_request request;  ///< each task with its session
  std::string folder;      ///< where it was started
  run_configuration configuration = {};
};

/// Fails as `session_records::set_state`. Blocks until it is stored.
expected<void> store_volley(storage::journal& journal, const std::string& id,
                            const volley_record& x);

/// Fails with `not_found`, `storage_corrupt`, and as `load_state`.
expected<volley_record> load_volley(storage::journal& journal,
                                    const std::string& id);

/// Runs with the place of their task.
using placed_runs = std::vector<std::pair<std::size_t, storage::run_record>>;

/// Those of a volley in one session, oldest first; none if there is no such
/// session. Fails as `list_runs`.
expected<placed_runs> runs_in_session(storage::journal& journal,
                                      const std::string& id,
                                      const session_id& session);

/// Every run of its tasks, in task order, those of a task from the first one.
/// Fails as `list_runs`.
expected<placed_runs> placed_runs_of_volley(storage::journal& journal,
                                            const std::string& id,
                                            const volley_record& x);
/// The same without their places.
expected<std::vector<storage::run_record>> runs_of_volley(
    storage::journal& journal, const std::string& id, const volley_record& x);

/// Another process wants it to end, by this reason: whoever works on it looks
/// when a run of it was cancelled from outside, and between two runs of a task.
/// Empty: nobody does (any more).
expected<void> ask_volley_end(storage::journal& journal, const std::string& id,
                              const std::string& reason);
/// Nothing, also where that cannot be read.
std::optional<std::string> asked_volley_end(storage::journal& journal,
                                            const std::string& id);

/// How often a task may run again whose last run, after so many, ended by this;
/// 0: it has ended for good.
std::uint32_t tries_left(const std::optional<error>& failure,
                         std::uint32_t runs, std::uint32_t max_retries);

/// While it lives no other process works on the volley. Its file goes with it;
/// one that a killed process left behind goes with the next who locks it.
class volley_lock {
 public:
  volley_lock(std::filesystem::path file, unique_fd fd)
      : file_{std::move(file)}, fd_{std::move(fd)} {}
  ~volley_lock();
  volley_lock(const volley_lock&) = delete;
  volley_lock& operator=(const volley_lock&) = delete;

 private:
  std::filesystem::path file_;
  unique_fd fd_;
};

/// `folder`: of the locks; empty: nobody else knows the journal, and the answer
/// is null. Fails with `session_busy` (somebody works on it) and
/// `storage_unavailable`.
expected<std::shared_ptr<volley_lock>> lock_volley(
    const std::filesystem::path& folder, const std::string& id);

/// Whether a process, this one too, works on it. Locks nothing for longer than
/// the look.
bool is_worked_on(const std::filesystem::path& folder, const std::string& id);

/// Newest first: those whose process was killed before they had ended, for its
/// lock is there still, and nobody holds it. `folder`: as of `lock_volley`.
std::vector<std::string> left_volleys(const std::filesystem::path& folder);

}  // namespace riffle::service
