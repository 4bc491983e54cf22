// SPDX-License-Identifier: MIT
#pragma once

// The end of the order of all runs, as it grows: read and written out once for
// all who follow it. On the I/O thread alone, but for what reads the journal.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "runtime/http/stream_parts.hpp"

namespace riffle::http {

/// What tells whose a run is.
struct feed_run {
  session_id session;
  std::string by;      ///< who asked for it, see `request_origin`
  std::string volley;  ///< that it is a task of; empty: none
};

/// Events of a run that one commit brought, as they are sent. Shared.
struct feed_item {
  storage::feed_place first{};
  std::uint64_t last_seq = 0;
  std::shared_ptr<const feed_run> run;
  std::shared_ptr<const std::string> lines;
  std::shared_ptr<const std::string> frames;  ///< as server-sent events

  [[nodiscard]] storage::feed_place last() const noexcept {
    return {first.commit, first.run, last_seq};
  }
};

struct feed_piece {
  std::deque<feed_item> items;
  storage::feed_place next{};
  bool end = false;  ///< there was nothing behind it
  bool failed = false;
};

/// Runs that were asked for; of one job at a time.
using known_runs = std::unordered_map<run_id, std::shared_ptr<const feed_run>>;
using feed_filter = std::function<bool(const feed_run&)>;

/// Null: it is gone, or damaged (logged). Fails where it cannot be read now.
/// Blocks.
expected<std::shared_ptr<const feed_run>> find_feed_run(
    storage::journal& journal, const run_id& id, known_runs& known);

/// A page of the order behind `after`: what `has` wants of it (null: all).
/// Runs that are gone or damaged are left out. Blocks.
feed_piece read_piece(storage::journal& journal,
                      const storage::feed_place& after, const feed_filter& has,
                      known_runs& known);

class feed_tail : public std::enable_shared_from_this<feed_tail> {
 public:
  explicit feed_tail(std::shared_ptr<const stream_parts> parts)
      : parts_{std::move(parts)} {}

  /// Is told from now on when there may be more. Nothing is read while nobody
  /// waits.
  void add(channel_reader* x);
  /// Is told when a run of the session begins, and once when those that begin
  /// are known of: who looks after `add_session` misses none.
  void add_session(const session_id& session, channel_reader* x);
  void remove(channel_reader* x);
  void remove_session(const session_id& session, channel_reader* x);

  /// Something may have been committed.
  void look();
  /// It was deleted: who waits for more of it is told.
  void gone(const session_id& session);

  enum class place_is : std::uint8_t {
    here,     ///< `item` stands behind it; null: nothing does yet
    past,     ///< what stands behind it is in the journal alone
    unknown,  ///< the end is being looked for
  };
  struct finding {
    place_is where = place_is::unknown;
    const feed_item* item = nullptr;
  };
  /// What stands behind a place.
  [[nodiscard]] finding find(const storage::feed_place& place) const noexcept;

 private:
  void pull();
  void take(const feed_piece& x);
  void tell(const std::unordered_set<session_id>& begun, bool all);
  void tell_of(const std::function<bool(const session_id&)>& has);
  void rest();

  const std::shared_ptr<const stream_parts> parts_;
  std::unordered_set<channel_reader*> readers_;
  std::unordered_map<session_id, std::unordered_set<channel_reader*>>
      by_session_;
  std::shared_ptr<known_runs> known_ = std::make_shared<known_runs>();
  std::deque<feed_item> items_;
  std::size_t bytes_ = 0;
  storage::feed_place from_{};  ///< all behind it up to `to_` is here
  storage::feed_place to_{};
  std::uint64_t life_ = 0;  ///< grows when nobody waits any more
  bool placed_ = false;     ///< `from_` and `to_` are known
  bool pulling_ = false;
  bool again_ = false;
};

}  // namespace riffle::http
