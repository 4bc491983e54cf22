// SPDX-License-Identifier: MIT
#include "runtime/storage/storage_error.hpp"

#include <cerrno>
#include <string_view>
#include <sys/resource.h>
#include <system_error>

#include "runtime/storage/rows.hpp"
#include "runtime/storage/schema.hpp"
#include "runtime/storage/sqlite.hpp"

namespace riffle::storage {

namespace {

bool says(const sqlite::failure& problem, int number) {
  const auto text = std::generic_category().message(number);
  return std::string_view{problem.what()}.find(text) != std::string_view::npos;
}

/// SQLite does not say why a write failed.
bool limits_files() {
  rlimit now{};
  return ::getrlimit(RLIMIT_FSIZE, &now) == 0 && now.rlim_cur != RLIM_INFINITY;
}

std::string advice(const sqlite::failure& problem) {
  if (says(problem, EMFILE) || says(problem, ENFILE))
    return ": let the process open more files (ulimit -n)";
  switch (problem.code() & 0xFF) {
    case SQLITE_BUSY: return ": another process holds its lock for too long";
    case SQLITE_FULL: return ": make room on the disk";
    case SQLITE_IOERR:
      if (limits_files())
        return ": files may not grow beyond 'ulimit -f', or the disk fails: "
               "raise that limit, or make room on the disk";
      return ": the disk fails, or is full: make room on the disk";
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM: return ": check who may write there";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ": restore the file from a copy, taking riffle.db-wal and "
             "riffle.db-shm beside it away, or use another data_dir";
    default: return "";
  }
}

/// In `error::cause`.
constexpr std::string_view no_room = "no room";
constexpr std::string_view malformed = "malformed";

/// There may be room later, or the lock free: a full disk, a quota (which is a
/// failing write to SQLite) and a disk that fails cannot be told apart. A limit
/// of this process on the size of files does not pass.
bool may_pass(const sqlite::failure& problem) {
  const int kind = problem.code() & 0xFF;
  if (says(problem, EFBIG)) return false;
  return kind == SQLITE_BUSY || kind == SQLITE_FULL ||
         (kind == SQLITE_IOERR && problem.code() != SQLITE_IOERR_NOMEM);
}

}  // namespace

error describe_problem(const char* op, const std::filesystem::path& file,
                       const std::exception& problem) {
  error x{errc::storage_unavailable,
          op,
          file.string() + ": " + problem.what(),
          false,
          {}};
  if (const auto* said = dynamic_cast<const sqlite::failure*>(&problem)) {
    if (said->is_corrupt()) {
      x.code = errc::storage_corrupt;
      x.cause = malformed;
    }
    x.retryable = may_pass(*said);
    if (x.retryable && (said->code() & 0xFF) != SQLITE_BUSY) x.cause = no_room;
    x.message += advice(*said);
  } else if (dynamic_cast<const damaged*>(&problem) != nullptr) {
    x.code = errc::storage_corrupt;
  } else if (const auto* bad = dynamic_cast<const unusable_schema*>(&problem)) {
    if (bad->damaged) x.code = errc::storage_corrupt;
  }
  return x;
}

bool wants_room(const error& x) noexcept { return x.cause == no_room; }

bool is_malformed(const error& x) noexcept { return x.cause == malformed; }

unexpected missing(const char* op, const std::string& what) {
  return unexpected{
      error{errc::not_found, op, "there is no " + what, false, {}}};
}

std::optional<error> find_open_fault(const run_record& run) {
  const auto refused = [](const char* why) {
    return error{errc::invalid_request, "open_run", why, false, {}};
  };
  if (run.id.empty()) return refused("the run has no id");
  if (run.session.empty()) return refused("the run has no session");
  if (run.state != run_state::active) return refused("the run has finished");
  return std::nullopt;
}

error cause_error(const proposal_id& cause, const std::string& why) {
  return {errc::invalid_request,
          "open_run",
          "proposal " + cause.value + " cannot be executed: " + why,
          false,
          {}};
}

}  // namespace riffle::storage
