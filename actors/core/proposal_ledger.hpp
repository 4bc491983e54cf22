// SPDX-License-Identifier: MIT
#pragma once

// Where each call of a run stands that somebody may have to decide about: it is
// looked at, asked about, decided, and looked at again before it may act. The
// first decision wins. Pure.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "messages/event.hpp"
#include "messages/ids.hpp"

namespace riffle::core {

/// One look at what a call would do; `round` is another one for each.
struct call_look {
  call_id call;
  std::uint32_t round = 0;

  auto operator<=>(const call_look&) const = default;
};

enum class look_result : std::uint8_t {
  late,      ///< nobody waits for it any more
  first,     ///< before anybody is asked
  restored,  ///< whether what was asked before is still so
  again,     ///< before a decision counts
};

enum class stored_move : std::uint8_t {
  none,    ///< the call is not known any more
  wait,    ///< for a decision, which may come from anywhere
  cancel,  ///< the run needs none any more: decide so
};

enum class withdrawal : std::uint8_t {
  none,    ///< its decision is on its way
  end,     ///< nobody was asked: it ends here
  cancel,  ///< decide that it is cancelled
  later,   ///< told when its request is stored, or its look is over
};

enum class look_again : std::uint8_t {
  refuse,   ///< it could not be looked at
  resolve,  ///< the decision holds
  replace,  ///< something else than what was shown: it is asked anew
};

/// A decision that is the first of its proposal.
struct accepted_decision {
  call_id call;
  /// An approval is of what was shown: look whether that is still there. So is
  /// what was withdrawn as outdated, to be asked anew.
  bool look = false;

  bool operator==(const accepted_decision&) const = default;
};

/// Not thread safe. Holds what is open, and looks on their way.
class proposal_ledger {
 public:
  /// `looks`: of the run at a time; what hangs keeps a few threads.
  explicit proposal_ledger(std::size_t looks) : limit_{looks} {}

  /// It is looked at before anybody is asked about the call.
  void on_request(const call_id& call);

  /// It was approved in another run: only looked at again.
  void on_approved(const call_id& call);

  /// Its request is on record from before. `withdrawn`: nobody waits for the
  /// decision.
  stored_move on_restored(const call_id& call, const proposal_id& proposal,
                          bool withdrawn);

  /// What was asked may have changed while nobody ran: it is looked at, beside
  /// the wait.
  void on_resumed(const call_id& call);

  /// Looks that may begin now, in order.
  std::vector<call_look> next_looks();

  /// Whether somebody waits for this look, which has begun.
  [[nodiscard]] bool awaits(const call_look& x) const;

  /// A look is over, or has been given up.
  look_result on_seen(const call_look& x);

  /// Its request is on its way to the journal, as this proposal.
  void on_asked(const call_id& call, const proposal_id& proposal);

  stored_move on_stored(const call_id& call);

  /// The call needs no decision any more.
  withdrawal on_withdrawn(const call_id& call);

  /// The call that this proposal still waits for, if it does.
  [[nodiscard]] std::optional<call_id> waiting(const proposal_id& id) const;

  /// `outdated`: nobody decided, what was shown is no longer so.
  std::optional<accepted_decision> on_decision(const proposal_id& id,
                                               events::proposal_outcome how,
                                               bool outdated = false);

  /// What follows from the second look. `failed`: nothing was seen. `holds`:
  /// what was shown is still there.
  [[nodiscard]] look_again after_look(const call_id& call, bool failed,
                                      bool holds) const;

  /// Nothing about the call is open any more.
  void on_end(const call_id& call);

  [[nodiscard]] bool empty() const noexcept { return calls_.empty(); }

 private:
  enum class stage : std::uint8_t { looked_at, asked, waits, looked_again };

  struct entry {
    stage at = stage::looked_at;
    bool withdrawn = false;
    bool outdated = false;
    std::uint32_t look = 0;  ///< the round that is awaited, or none
    proposal_id proposal{};
  };

  void start_look(const call_id& call, entry& x);

  std::size_t limit_;
  std::uint32_t rounds_ = 0;
  std::unordered_map<call_id, entry> calls_;
  std::unordered_map<proposal_id, call_id> waiting_;
  std::deque<call_look> to_look_;
  std::set<call_look> looks_;  ///< that have begun
};

}  // namespace riffle::core
