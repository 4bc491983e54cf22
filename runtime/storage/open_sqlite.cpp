// SPDX-License-Identifier: MIT
// Opening: folder, mark of life, write-ahead log, connection, tables.
#include <utility>

#include "runtime/storage/private_files.hpp"
#include "runtime/storage/schema.hpp"
#include "runtime/storage/sqlite_journal.hpp"
#include "runtime/storage/storage_error.hpp"
#include "runtime/storage/wal_check.hpp"

namespace riffle::storage {

namespace {

namespace fs = std::filesystem;

void set_wal(sqlite::database& db) {
  sqlite::statement set{db, "PRAGMA journal_mode = WAL"};
  auto now = set.query();
  if (!now.next() || now.bytes(0) != "wal")
    throw unusable_schema{false,
                          "this file system cannot hold a write-ahead "
                          "log: use a local one for data_dir"};
}

sqlite::database open_writer(const fs::path& file,
                             const sqlite_options& options) {
  sqlite::database db{file, options.timeout};
  db.execute("PRAGMA page_size = 4096");
  set_wal(db);
  // NORMAL: the disk is asked to keep order at checkpoints only, so a power
  // cut costs the last commits but never the file.
  db.execute(options.mode == durability::disk ? "PRAGMA synchronous = FULL"
                                              : "PRAGMA synchronous = NORMAL");
  db.execute("PRAGMA cell_size_check = ON");
  db.execute("PRAGMA journal_size_limit = 67108864");
  // The calls of a large turn are written again as each ends: 8 MiB hold them.
  db.execute("PRAGMA cache_size = -8192");
  db.execute("PRAGMA wal_autocheckpoint = 0");  // see checkpointer.hpp
  prepare_schema(db);
  return db;
}

/// `~` is not expanded here; "a/" and "a" are the same folder.
expected<fs::path> tidy(const fs::path& folder) {
  std::error_code gone;
  const auto x = fs::absolute(folder, gone).lexically_normal();
  if (gone)
    return unexpected{error{errc::storage_unavailable,
                            "open_journal",
                            "data_dir " + folder.string() +
                                " is relative to a working folder that cannot "
                                "be used: " +
                                gone.message(),
                            false,
                            {}}};
  return x.has_filename() ? x : x.parent_path();
}

}  // namespace

sqlite_journal::write_connection::write_connection(
    const fs::path& file, const sqlite_options& options, std::string owner)
    : db{open_writer(file, options)},
      transactions{db},
      units{db, std::move(owner)} {}

expected<std::unique_ptr<sqlite_journal>> sqlite_journal::open(
    const fs::path& data_dir, sqlite_options options) {
  const auto tidied = tidy(data_dir);
  if (!tidied) return unexpected{tidied.error()};
  const auto& folder = *tidied;
  const auto file = folder / "riffle.db";
  if (auto made = make_private_folder(folder); !made)
    return unexpected{made.error()};
  // One at a time: who sweeps or checks must not meet one who begins.
  auto lock = lock_folder(folder, options.timeout);
  if (!lock) return unexpected{lock.error()};
  if (auto wrong = find_wrong_kind(file)) return unexpected{std::move(*wrong)};
  if (auto lost = find_lost_file(file)) return unexpected{std::move(*lost)};
  create_private_file(file);
  make_files_private(folder);
  auto owner = owner_lock::create(folder / "owners");
  if (!owner) return unexpected{owner.error()};
  const bool others = sweep_owners(folder / "owners", owner->id());
  try {
    std::optional<std::string> loss;
    if (!others) loss = find_wal_damage(file.string() + "-wal");
    auto connection =
        std::make_unique<write_connection>(file, options, owner->id());
    auto made = std::make_unique<sqlite_journal>(
        folder, std::move(options), std::move(*owner), std::move(connection));
    if (loss) made->note(*loss);
    if (!others) made->mend_log();
    keep_reserve(folder);
    return made;
  } catch (const std::exception& problem) {
    return unexpected{describe_problem("open_journal", file, problem)};
  }
}

expected<std::unique_ptr<journal>> open_sqlite_journal(const fs::path& data_dir,
                                                       durability mode) {
  sqlite_options options;
  options.mode = mode;
  auto made = sqlite_journal::open(data_dir, std::move(options));
  if (!made) return unexpected{made.error()};
  return std::unique_ptr<journal>{std::move(*made)};
}

}  // namespace riffle::storage
