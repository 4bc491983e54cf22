// SPDX-License-Identifier: MIT
#pragma once

// How a run, or a plan, ended, as its log says it.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "actors/run/subscriber.hpp"
#include "messages/event.hpp"
#include "runtime/base/executor.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle::service {

struct run_end {
  events::run_finished finished{};
  std::string answer{};    ///< of a completed run
  bool truncated = false;  ///< the provider cut the answer off
};

/// Whether the block's last line is the last event of a run or a plan.
bool is_last(const storage::event_block& block);

/// Of the lines of a last block: the answer and the end are one commit, so
/// both are in it.
expected<run_end> read_end(std::string_view lines);

/// Of a run's log, however it is cut into blocks; nothing: it has no end
/// (yet). Reads a few of its blocks, not all. Fails as `read_events` does.
expected<std::optional<run_end>> read_end(storage::event_log& log,
                                          const run_id& run);

/// Waits for a run's end and holds nothing of its events. What it missed it
/// reads from the journal, on `where`.
class run_end_reader final
    : public subscriber,
      public std::enable_shared_from_this<run_end_reader> {
 public:
  using attach_function = std::function<void(subscriber_ptr)>;
  /// Called once, on a thread of the runtime. An error: the run cannot go on
  /// in this process, or its log cannot be read.
  using end_function = std::function<void(expected<run_end>)>;

  run_end_reader(run_id run, std::shared_ptr<storage::event_log> log,
                 std::shared_ptr<executor> where, attach_function attach,
                 end_function done);

  [[nodiscard]] std::uint64_t position() const override { return position_; }
  bool offer(const storage::event_block& block) override;
  void behind() override;
  void closed(const std::optional<error>& why) override;

 private:
  void pull();
  void take(const storage::event_block& block);
  void finish(expected<run_end> how);

  const run_id run_;
  const std::shared_ptr<storage::event_log> log_;
  const std::shared_ptr<executor> where_;
  const attach_function attach_;
  std::atomic<std::uint64_t> position_ = 0;
  std::atomic<bool> gone_ = false;  ///< nothing more will be offered
  std::mutex pulling_;              ///< held by the one job that reads pages
  std::mutex mutex_;
  end_function done_;  ///< null: it was called
};

}  // namespace riffle::service
