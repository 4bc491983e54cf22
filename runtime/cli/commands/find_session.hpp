// SPDX-License-Identifier: MIT
#pragma once

// Which session a person means, before a runtime is there.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "runtime/cli/commands/session_use.hpp"
#include "runtime/config/config.hpp"
#include "runtime/service/sessions.hpp"

namespace riffle::cli {

/// Looks into what is on record, which it opens when that is first needed.
/// What was found once is not looked for again: tasks by the thousand name few
/// sessions.
class session_finder {
 public:
  /// `settings` outlive it.
  explicit session_finder(config::config& settings) : settings_{settings} {}

  /// For a task: the newest of this folder (`goes_on`; `not_found` says how to
  /// begin one), or the one that is named. Part of an id that Riffle made is
  /// enough; any other name that there is not is a new session's.
  expected<std::optional<session_id>> for_task(
      const std::optional<std::string>& named, bool goes_on);

  /// Names that begin a new session, and which one may be meant by each; "":
  /// none is near.
  [[nodiscard]] const std::map<std::string, std::string>& fresh()
      const noexcept {
    return fresh_;
  }

  /// With whom a session goes on; its model is in `settings` from then on.
  const session_use& use_of(const session_id& session, const named_use& named);

 private:
  expected<const service::sessions*> records();
  expected<session_id> find(const std::string& named);

  config::config& settings_;
  std::optional<service::sessions> records_;
  std::optional<std::vector<session_id>> newest_;
  std::map<std::string, session_id> found_;
  std::map<std::string, std::string> fresh_;
  std::map<std::pair<session_id, named_use>, session_use> uses_;
};

/// One that must be there, by any part of its id that no other has.
expected<session_id> known_session(const config::config& settings,
                                   const std::string& part);

/// The same; of a plan that was stopped and went on as another one, the newest:
/// also by a part that only these have.
expected<session_id> session_to_finish(const config::config& settings,
                                       const std::string& part);

}  // namespace riffle::cli
