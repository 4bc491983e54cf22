// SPDX-License-Identifier: MIT
#include "runtime/cli/journal_at.hpp"

#include <filesystem>
#include <system_error>

namespace riffle::cli {

expected<std::unique_ptr<storage::journal>> journal_at(
    const config::config& settings) {
  const auto folder = config::expand_home(settings.runtime.data_dir);
  std::error_code ignored;
  if (!std::filesystem::exists(folder / "riffle.db", ignored))
    return std::unique_ptr<storage::journal>{};
  return storage::open_sqlite_journal(folder, storage::durability::process);
}

}  // namespace riffle::cli
