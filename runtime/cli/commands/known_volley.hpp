// SPDX-License-Identifier: MIT
#pragma once

// What is on record of a volley, for who looks at it from outside.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cli/view/session_text.hpp"
#include "runtime/config/config.hpp"
#include "runtime/service/open_journal.hpp"
#include "runtime/service/volley_record.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle::cli {

/// What these commands know of the data folder.
struct volley_store {
  const config::config& settings;
  std::shared_ptr<storage::journal> journal;  ///< null: there is none
  std::filesystem::path locks;                ///< of volleys
};

/// Fails as `open_journal`.
expected<volley_store> open_volleys(const config::config& settings,
                                    service::journal_use use);

/// A volley on record: its tasks, and all their runs in task order.
struct known_volley {
  service::volley_record record;
  std::vector<storage::run_record> runs;
  std::vector<std::optional<std::size_t>> last;  ///< of `runs`, by task
  std::vector<std::uint32_t> had;                ///< runs, by task

  /// The newest run of a task; null: it had none.
  [[nodiscard]] const storage::run_record* last_of(std::size_t task) const {
    return last[task] ? &runs[*last[task]] : nullptr;
  }
  [[nodiscard]] bool is_active() const;
};

/// Fails with `not_found`, and as the journal.
expected<known_volley> find_volley(const std::string& id,
                                   const volley_store& store);

/// How the volleys of these sessions stand; one that cannot be read is left
/// out.
volley_standings standings_of(const std::vector<session_summary>& all,
                              const volley_store& store);
/// The same, of whatever store there is.
volley_standings standings_of(const std::vector<session_summary>& all,
                              const config::config& settings);

/// How often each task may run again whose last run failed; 0: not at all.
expected<std::vector<std::uint32_t>> tries_left(const known_volley& x,
                                                storage::journal& journal);

/// The last run of the newest volley of this folder that was killed while none
/// of its runs was under way, and that nobody has ended since.
std::optional<storage::run_record> left_between_runs(
    const config::config& settings, const std::string& folder);

}  // namespace riffle::cli
