// SPDX-License-Identifier: MIT
#pragma once

// A run works in the folder of the process that began it, by the configuration
// of that process. Whoever goes on with it, or executes what it proposed, does
// so there or not at all.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "messages/error.hpp"
#include "messages/time.hpp"
#include "runtime/config/config.hpp"
#include "runtime/storage/records.hpp"

namespace riffle::service {

/// Of the process that began a run.
struct run_configuration {
  std::string file;    ///< absolute; empty: none, or not on record
  std::string digest;  ///< SHA-256 of its text

  bool operator==(const run_configuration&) const = default;
};

/// As JSON: nothing where none is on record.
void put_configuration(nlohmann::json& out, const run_configuration& x);
/// The opposite: none where `from` has none.
run_configuration read_configuration(const nlohmann::json& from);

run_configuration configuration_of(const storage::run_record& x);

/// Makes a folder, which is absolute, the place where all tools work; nothing
/// if it is empty.
void work_in(config::tools_config& x, const std::filesystem::path& workspace);

/// Makes folders of tools absolute, so that nobody has to ask where this
/// process is for each call.
void keep_folders(config::tools_config& x);
/// That the request of a run named; empty: its configuration's.
std::filesystem::path workspace_of(const storage::run_record& x);

/// More runs are never unfinished at once: where all are looked at.
inline constexpr std::size_t most_unfinished = 10'000;

/// How long nodes may still run what a process gave them that has died: they
/// obey the times of that process.
duration node_timeout(const config::config& x);
/// Of the process that began the run; 0: not on record.
duration node_timeout(const storage::run_record& x);

/// This process's working directory; empty: it is gone.
std::string working_folder();

enum class folder_state : std::uint8_t {
  here,       ///< this process's working directory, or not on record
  elsewhere,  ///< another folder
  gone,       ///< there is no such folder any more
};

folder_state find_folder(const std::string& folder);

/// `invalid_request` unless it is here; says where, and what to do. `what` is
/// e.g. "proposal prop_1".
expected<void> check_folder(const std::string& folder, const std::string& what);

}  // namespace riffle::service
