// SPDX-License-Identifier: MIT
#pragma once

// Who gets the blocks of events as they are acknowledged, and who reads pages
// from the journal instead because it is behind.

#include <cstddef>
#include <cstdint>
#include <map>

namespace riffle::core {

/// Opaque number of a subscriber, given by the caller, unique while attached.
using subscriber_id = std::uint64_t;

enum class reader_state : std::uint8_t {
  live,    ///< gets every block from here on
  behind,  ///< pulls pages from the journal, then attaches again
};

/// Holds one number for each subscriber, no events. Not thread safe.
///
/// A reader may see lines in the journal before their acknowledgement comes
/// here, so it can attach ahead of what is acknowledged: it is live, gets no
/// block that it has whole, and of a block that it has in part it drops the
/// lines up to its own position. That is the only case of overlap.
class fan_out {
 public:
  /// A subscriber that has everything up to `after_seq`, while everything up
  /// to `acked_seq` is acknowledged. Attaching again replaces what was known.
  reader_state attach(subscriber_id sub, std::uint64_t after_seq,
                      std::uint64_t acked_seq);

  /// The block first..last was acknowledged. Blocks come in order, without
  /// gaps. Calls `f(subscriber_id)` for each who gets it, in ascending order;
  /// `f` does not call this.
  template <class F>
  void on_acked(std::uint64_t first, std::uint64_t last, F f) {
    for (auto& [sub, x] : subs_)
      if (takes(x, first, last)) f(sub);
  }

  /// It had no room for what it was given: it is behind, and gets nothing
  /// until it attaches again.
  void on_refused(subscriber_id sub);

  void detach(subscriber_id sub);

  /// Of all that are attached, those that are live.
  [[nodiscard]] std::size_t live() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return subs_.size(); }

 private:
  struct place {
    reader_state how = reader_state::behind;
    std::uint64_t has = 0;  ///< last event that it has, while live
  };

  static bool takes(place& x, std::uint64_t first, std::uint64_t last);

  std::map<subscriber_id, place> subs_;
};

}  // namespace riffle::core
