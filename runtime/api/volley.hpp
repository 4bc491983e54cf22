// SPDX-License-Identifier: MIT
#pragma once

// Many tasks at once, with one stream of what all of them do.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/api/riffle.hpp"

namespace riffle {

/// Something that a task of a volley did.
struct volley_update {
  std::size_t task = 0;
  /// A run of it has begun, or goes on: its events follow, the first ones too.
  struct begun {
    run_id run{};
    session_id session{};
  };
  std::optional<begun> run{};
  /// The next events of its run.
  std::optional<event_batch> events{};
  /// Nothing more comes of the task.
  std::optional<task_result> result{};
};

/// A volley under way. Dropping the handle does not stop it. Nobody has to
/// read its updates: runs never wait for a reader, who is slow reads the
/// journal. One reader thread at a time.
class volley {
 public:
  struct state;
  explicit volley(std::shared_ptr<state> impl);
  ~volley();
  volley(volley&&) noexcept;
  volley& operator=(volley&&) noexcept;

  /// `volley_…`: for `runtime::resume_volley`.
  [[nodiscard]] const std::string& id() const noexcept;
  /// Its tasks as they were given, each with its session.
  [[nodiscard]] const std::vector<run_request>& tasks() const noexcept;

  /// What happens next, waiting up to `limit` for it. The updates of one task
  /// come in order. Nothing: nothing came in that time, or the end.
  std::optional<volley_update> next(duration limit);
  /// Every task is over and `next` has said so, or nothing more comes for
  /// `failure`.
  [[nodiscard]] bool ended() const;
  [[nodiscard]] std::optional<error> failure() const;

  /// Ends what runs and begins nothing more; returns at once.
  void cancel(std::string reason = "cancelled by the user") const;
  /// Ends the run of one task, which counts as cancelled.
  void cancel(std::size_t task, std::string reason) const;

  /// Blocks until every task is over: their results, in order. `timeout` if
  /// that did not come in time; or `failure`. For who does not use `next`.
  expected<std::vector<task_result>> wait(duration limit);

  using end_handler =
      std::function<void(const expected<std::vector<task_result>>&)>;
  /// The same without a thread that waits: called once, as soon as every task
  /// is over, on a thread of the runtime, or at once in this call if they are.
  /// Must not block and must not throw. The last one that is set counts; it
  /// stays when the handle is dropped.
  void on_end(end_handler done);

 private:
  std::shared_ptr<state> impl_;
};

}  // namespace riffle
