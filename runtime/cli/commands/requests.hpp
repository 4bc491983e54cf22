// SPDX-License-Identifier: MIT
#pragma once

// What `run`, `run` with several tasks and `plan` ask a runtime for: made in
// one way, so that a task gets the same whichever of them it is given to.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "runtime/api/riffle.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/find_session.hpp"
#include "runtime/config/config.hpp"

namespace riffle::cli {

/// Whether the task, the context or what is told beside them comes from
/// standard input, so that nobody can type there.
bool takes_stdin(const run_command& x);

/// What is said of a task, or of all tasks alike: options, and the files that
/// they name. May read standard input.
expected<run_request> said_with(const run_command& x, std::string task);

/// What came through a pipe, in words for the model; a person is told that it
/// goes there. Empty: nothing did, or something else takes it.
expected<std::string> given_input(const run_command& x, console& io);

/// Behind a context that may be empty.
void add_to_context(std::string& context, const std::string& text);

/// Completes requests. Each session, model and folder is looked for once.
class request_maker {
 public:
  /// Models that are chosen are in `settings` from then on; it outlives this.
  explicit request_maker(config::config& settings)
      : settings_{settings}, sessions_{settings} {}

  /// The session that is meant by what was `named`, or the newest of this
  /// folder (`goes_on`); the session's agent and model where none are named
  /// (`agent`, and that of `x`); whether they are there, and the model takes
  /// what is attached. Fails with `invalid_request`, and as `session_finder`.
  expected<void> complete(run_request& x,
                          const std::optional<std::string>& named,
                          const std::optional<std::string>& agent,
                          bool goes_on = false);

  /// What sessions that go on had, and have no more; each once.
  [[nodiscard]] const std::set<std::string>& gone() const noexcept {
    return gone_;
  }

  /// What begins a new session by its name, see `session_finder`.
  [[nodiscard]] const std::map<std::string, std::string>& fresh()
      const noexcept {
    return sessions_.fresh();
  }

  /// What an agent is told of where it works.
  const std::string& surroundings(const std::string& agent);

 private:
  config::config& settings_;
  session_finder sessions_;
  std::set<std::string> gone_;
  std::map<std::string, std::string> surroundings_;
};

/// Which sessions begin by their names, that a typing mistake begins none in
/// silence. `fresh`: as `session_finder` says. Programs that begin their own
/// are told of those alone that are nearly one that there is.
void tell_fresh(const std::map<std::string, std::string>& fresh,
                const common_options& options, console& io);

/// For the person, unless nothing is to be said.
void tell_gone(const request_maker& of, const common_options& options,
               console& io);

/// The keyboard of who is asked about calls, if anybody is to be.
std::optional<unique_fd> keyboard_for(const resume_options& choices,
                                      bool stdin_is_taken);

/// What was chosen; else a person is asked who is there, and what is proposed
/// waits for nobody, so that it can be asked for everywhere.
approve approval_for(const resume_options& choices,
                     const config::config& settings, bool person);

/// Prints why nothing was started, and what may help. Returns the status.
int not_started(const error& why, const config::config& settings, console& io);

}  // namespace riffle::cli
