// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/storage/sqlite.hpp"

namespace riffle::storage {

/// The version that this program writes (`PRAGMA user_version`).
inline constexpr int schema_version = 8;

/// Tells our files from other databases (`PRAGMA application_id`).
inline constexpr int application_id = 0x52494646;  // "RIFF"

/// A file that cannot be used although SQLite can read it; the text says why
/// and what to do.
class unusable_schema : public std::runtime_error {
 public:
  unusable_schema(bool is_damaged, const std::string& what)
      : std::runtime_error{what}, damaged{is_damaged} {}

  bool damaged;
};

/// Creates the tables in an empty file, brings an older one up to date, and
/// checks that the tables are what this program expects. Throws
/// `unusable_schema` for a newer version, another program's file, or a
/// damaged schema.
void prepare_schema(sqlite::database& db);

/// The same for a file that must not be changed: an older one is refused.
void check_schema(sqlite::database& db);

}  // namespace riffle::storage
