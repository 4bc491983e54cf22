// SPDX-License-Identifier: MIT
#pragma once

// The public face of the library: start a runtime, give it tools, run tasks,
// read their events. All classes are handles, cheap to move; thread-safe
// unless a member says otherwise.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"
#include "messages/event.hpp"
#include "messages/ids.hpp"
#include "messages/time.hpp"
#include "runtime/config/config.hpp"
#include "runtime/storage/journal.hpp"
#include "tools/tool.hpp"

namespace riffle {

/// What happens to mutating calls that need approval.
enum class approve : std::uint8_t {
  none,  ///< denied, with a result that tells the model
  all,   ///< approved
};

/// A task to run.
struct run_request {
  std::string task;
  std::optional<session_id> session;  ///< nothing: a new one
  std::string agent = "default";
  std::optional<std::string> model;  ///< of the configuration; over the agent's
  std::string context;               ///< told to the model behind the task
  std::optional<std::uint32_t> max_steps;  ///< over the agent's own
  duration timeout{};                      ///< of the whole run; 0: none
  approve approval = approve::none;
};

/// One event, as a view into shared lines; valid while its batch lives.
class event_view {
 public:
  event_view(std::uint64_t seq, std::string_view line) noexcept
      : seq_{seq}, line_{line} {}

  [[nodiscard]] std::uint64_t seq() const noexcept { return seq_; }
  /// The contract's event_type.
  [[nodiscard]] std::string_view type() const noexcept;
  /// The line as it stands in the log, without its '\n'.
  [[nodiscard]] std::string_view line() const noexcept { return line_; }
  /// `content` of an llm_token or llm_reasoning; empty for others. Uses
  /// `buffer` only if the text holds escapes.
  [[nodiscard]] std::string_view text(std::string& buffer) const;
  /// The whole event as a value.
  [[nodiscard]] expected<event> parse() const;

 private:
  std::uint64_t seq_;
  std::string_view line_;
};

/// A contiguous piece of a run's log.
class event_batch {
 public:
  explicit event_batch(storage::event_block block) : block_{std::move(block)} {}

  [[nodiscard]] const run_id& run() const noexcept { return block_.run; }
  [[nodiscard]] std::uint64_t first_seq() const noexcept {
    return block_.first_seq;
  }
  [[nodiscard]] std::uint64_t last_seq() const noexcept {
    return block_.last_seq;
  }
  /// The lines as they stand in the log.
  [[nodiscard]] std::string_view lines() const noexcept {
    return *block_.lines;
  }
  /// Calls `f(event_view)` for each event in order.
  template <class F>
  void for_each(F f) const {
    auto seq = block_.first_seq;
    std::string_view rest = *block_.lines;
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      f(event_view{seq++, rest.substr(0, end)});
      rest.remove_prefix(end + 1);
    }
  }

 private:
  storage::event_block block_;
};

/// Receives the batches of a run in order, on a thread of the runtime, one
/// call at a time for each run; must return soon and must not throw. The last
/// event of the last batch is run_finished.
using event_handler = std::function<void(const event_batch&)>;

/// Reads a run's log: first what is stored, then live. Pulls pages from the
/// journal when it is slower than the run, so it costs nobody memory. One
/// reader thread at a time.
class event_stream {
 public:
  struct state;
  explicit event_stream(std::shared_ptr<state> impl);
  ~event_stream();
  event_stream(event_stream&&) noexcept;
  event_stream& operator=(event_stream&&) noexcept;

  /// The next batch, waiting up to `limit` for it. Nothing: no event in that
  /// time, or the end (see `ended`), or the log cannot be read (`failure`).
  std::optional<event_batch> next(duration limit);
  /// run_finished was handed out, or reading failed.
  [[nodiscard]] bool ended() const noexcept;
  [[nodiscard]] const std::optional<error>& failure() const noexcept;

 private:
  std::shared_ptr<state> impl_;
};

/// What may be chosen anew when an interrupted run is finished; what is not
/// set stays as the run was started.
struct resume_options {
  std::optional<approve> approval;
  std::optional<std::uint32_t> max_steps;
  duration timeout{};
  std::optional<std::string> model;
};

/// How a run ended.
struct run_outcome {
  events::run_status status = events::run_status::failed;
  std::string answer;            ///< of a completed run
  std::optional<error> failure;  ///< of a failed or cancelled one
  std::uint32_t steps = 0;
  std::uint32_t tool_calls = 0;
  token_usage usage;
  std::uint64_t duration_ms = 0;
};

class runtime;

/// A started run. Dropping the handle does not stop it.
class run {
 public:
  [[nodiscard]] const run_id& id() const noexcept { return id_; }
  [[nodiscard]] const session_id& session() const noexcept { return session_; }

  /// Its events after `after_seq`.
  [[nodiscard]] event_stream events(std::uint64_t after_seq = 0) const;
  /// Asks it to end; it settles its calls and ends as `cancelled`. Calling it
  /// again, or after the end, does nothing.
  void cancel(std::string reason = "cancelled by the user") const;
  /// Waits for its end; `timeout` if it did not come in time.
  [[nodiscard]] expected<run_outcome> wait(duration limit) const;

 private:
  friend class runtime;
  struct impl;
  std::shared_ptr<impl> impl_;
  run_id id_;
  session_id session_;
};

/// How a runtime is put together beside its configuration.
struct runtime_options {
  /// Tools beside the built-in ones; agents name them in `tools`.
  std::vector<tools::tool_ptr> tools;
  /// Nothing: SQLite in `runtime.data_dir`. Else this one, e.g.
  /// `storage::make_memory_journal()`.
  std::shared_ptr<storage::journal> journal;
};

/// A program whose agents use `bash` calls `tools::run_guard_if_asked(argc,
/// argv)` (tools/process/guard.hpp) first in its `main`: commands run under a
/// guard, which is the same program started once more.
///
/// A process's runtime: actor system, journal, model transport, tools. The
/// destructor cancels what still runs and waits up to 5 s for it.
class runtime {
 public:
  /// Fails with `invalid_config` or `storage_unavailable`.
  static expected<runtime> create(config::config config,
                                  runtime_options options = {});
  ~runtime();
  runtime(runtime&&) noexcept;
  runtime& operator=(runtime&&) noexcept;

  /// Starts a run; the answer comes once it is stored. Fails with
  /// `session_busy`, `not_found` (agent), `invalid_request`,
  /// `storage_unavailable`. `on_events`, if set, gets all its events.
  [[nodiscard]] expected<run> start(run_request request,
                                    event_handler on_events = {});

  /// Finishes an active run whose owner is gone (see `journal::adopt_run`).
  [[nodiscard]] expected<run> resume(const run_id& id,
                                     event_handler on_events = {},
                                     resume_options options = {});

  /// The committed log of any run, live or not.
  [[nodiscard]] expected<event_stream> events(const run_id& id,
                                              std::uint64_t after_seq = 0);

  [[nodiscard]] storage::journal& journal() noexcept;

 private:
  struct impl;
  explicit runtime(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

}  // namespace riffle
