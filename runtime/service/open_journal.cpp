// SPDX-License-Identifier: MIT
#include "runtime/service/open_journal.hpp"

#include <filesystem>
#include <system_error>

#include "runtime/config/home.hpp"
#include "runtime/storage/private_files.hpp"
#include "runtime/storage/read_only_journal.hpp"
#include "runtime/storage/storage_error.hpp"

namespace riffle::service {

expected<std::shared_ptr<storage::journal>> open_journal(
    const config::config& settings, journal_use use) {
  const auto folder = config::data_folder(settings.runtime);
  if (!folder) return unexpected{folder.error()};
  std::error_code failed;
  if (!std::filesystem::exists(*folder / "riffle.db", failed)) {
    if (auto lost = storage::find_lost_file(*folder / "riffle.db"))
      return unexpected{*std::move(lost)};
    if (!failed) return std::shared_ptr<storage::journal>{};
    return unexpected{error{
        errc::storage_unavailable, "storage",
        "cannot look into " + folder->string() + ": " + failed.message()}};
  }
  if (use == journal_use::reads && !storage::is_writable(*folder))
    return storage::open_read_only_journal(*folder);
  const auto mode = settings.runtime.durability == "disk"
                        ? storage::durability::disk
                        : storage::durability::process;
  auto opened = storage::open_sqlite_journal(*folder, mode);
  if (opened || !opened.error().retryable) return opened;
  // A full disk: what is there can be looked at, and deleted.
  if (use == journal_use::reads) {
    if (auto looked = storage::open_read_only_journal(*folder)) return looked;
  } else if (storage::wants_room(opened.error()) &&
             storage::free_reserve(*folder)) {
    return storage::open_sqlite_journal(*folder, mode);
  }
  return opened;
}

}  // namespace riffle::service
