// SPDX-License-Identifier: MIT
#pragma once

// What a session's calls of `write` and `edit` did to files, by its log, and
// which of it a person took back.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runtime/service/requests.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle::service {

/// `git log | head`: a person may have been asked about such a call, but all
/// that it does is look. As `core::only_reads` by the list that is built in,
/// whatever the configuration of that run had: a log does not say.
bool only_reads(std::string_view tool, const std::string& arguments);

/// Reads the logs of its runs.
expected<session_changes> changes_of(storage::event_log& log,
                                     const storage::session_snapshot& x);

/// Runs whose changes were taken back: a value of their session. The model is
/// told of it with the next task.
struct taken_back {
  std::vector<run_id> runs{};
  run_id last{};  ///< the session's newest run when that was done
  std::vector<std::string> files{};  ///< since then

  bool operator==(const taken_back&) const = default;
};

inline constexpr const char* taken_back_key = "session_taken_back";

/// `state`: of the session.
taken_back taken_back_of(const std::map<std::string, std::string>& state);
/// As it is kept.
nlohmann::json json_of(const taken_back& x);

/// With one more run.
taken_back with(taken_back x, const run_id& run, const run_id& newest,
                const std::vector<std::string>& files);

/// In the context of a task that begins behind such an act, and of no later
/// one.
void tell_taken_back(storage::session_records& journal,
                     const session_id& session, run_request& x);

}  // namespace riffle::service
