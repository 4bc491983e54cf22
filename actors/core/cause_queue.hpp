// SPDX-License-Identifier: MIT
#pragma once

// Approved calls that need a run of their own: when each is tried, and what it
// means that its run could not be started.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "messages/time.hpp"

namespace riffle::core {

/// Whether a run that could not be started for this reason may be started
/// later, unchanged: its session or the process is busy, or the journal takes
/// nothing now.
bool may_pass(const error& why) noexcept;

enum class cause_state : std::uint8_t {
  started,
  later,     ///< it is tried again
  given_up,  ///< it would fail each time
};

class cause_queue {
 public:
  /// Between tries of what failed; a busy session is asked each time.
  static constexpr duration first_pause = std::chrono::milliseconds{500};
  static constexpr duration longest_pause = std::chrono::seconds{15};
  static constexpr std::size_t most = 10'000;

  /// To be tried at once. False: there are too many.
  bool add(const proposal_id& id, time_point now);

  /// Those whose time has come. Each is on its way until `on_answer`.
  std::vector<proposal_id> take_due(time_point now);

  /// How it went; nothing: it was started.
  cause_state on_answer(const proposal_id& id, const std::optional<error>& why,
                        time_point now);

  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  /// So many tries of it have failed, those of a busy session aside.
  [[nodiscard]] std::uint32_t failures(const proposal_id& id) const;

 private:
  struct entry {
    time_point due;
    std::uint32_t failures = 0;
    bool on_its_way = false;
  };
  std::map<proposal_id, entry> waiting_;
};

}  // namespace riffle::core
