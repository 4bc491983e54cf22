// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include "messages/error.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle {

/// Reads a run's committed events live. Implemented outside of the actors (a
/// terminal, a library's stream, an HTTP connection). All members are called
/// on a scheduler thread, must not block and must not throw; the runtime
/// shares ownership until `closed`.
class subscriber {
 public:
  virtual ~subscriber() = default;

  /// `seq` of the last event that it has.
  [[nodiscard]] virtual std::uint64_t position() const = 0;

  /// The block that follows `position()`. False: no room; then nothing more
  /// is offered until it has pulled pages from the journal and is attached
  /// again (see `attach_subscriber`).
  virtual bool offer(const storage::event_block& block) = 0;

  /// The journal holds events behind `position()` that will not be offered:
  /// pull them, then attach again.
  virtual void behind() = 0;

  /// Nothing more will be offered: the run has finished, or it cannot go on
  /// in this process for the reason given.
  virtual void closed(const std::optional<error>& why) = 0;

  /// Nobody reads by it any more: it may be forgotten.
  [[nodiscard]] virtual bool gone() const { return false; }
};

using subscriber_ptr = std::shared_ptr<subscriber>;

}  // namespace riffle
