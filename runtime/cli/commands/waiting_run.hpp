// SPDX-License-Identifier: MIT
#pragma once

// A run, maybe of another process, that waits for a decision.

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/api/riffle.hpp"

namespace riffle::cli {

/// Whether it has taken the decision. Of its log only what is new is read.
class waiting_run {
 public:
  /// What is referred to outlives it.
  waiting_run(const storage::proposal_record& of, runtime& rt)
      : of_{of}, rt_{rt} {}

  /// Or it never will.
  bool has_taken();
  /// What it made of the decision, once it did.
  [[nodiscard]] const std::optional<events::approval_resolved>& answer()
      const noexcept {
    return answer_;
  }

 private:
  void read_on();
  void look_at(const event_view& x);
  [[nodiscard]] bool is_worked_on() const;

  const storage::proposal_record& of_;
  runtime& rt_;
  std::uint64_t seen_ = 0;
  std::optional<events::approval_resolved> answer_;
};

/// The oldest question of a session, as "write a.txt", with the command that
/// answers it from anywhere; empty: nothing waits for a person.
std::string question_elsewhere(runtime& rt, const session_id& session);

}  // namespace riffle::cli
