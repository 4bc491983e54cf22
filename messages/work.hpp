// SPDX-License-Identifier: MIT
#pragma once

// What a worker hears and says, the same for a worker on a thread of the
// runtime, in a child process and on another node. Plain values: what must stay
// where it is (threads, folders, handles) a worker is given when it is made.
//
//   worker -> supervisor   offer, once, before anything else
//   supervisor -> worker   assignment: run this call
//   worker -> run          started, progress …, then done or lost
//   run -> worker          ack of each progress: room for one more
//   supervisor -> worker   stop: end it soon; done or lost follows all the same
//   worker -> supervisor   freed: the place is free again; none after lost
//
// A worker that dies says nothing: its supervisor says `lost`. Progress may be
// dropped, but for the last report before `done`; all else arrives. What names
// another attempt than the one that runs is old, and is passed over.
//
// `version` counts the changes of these values, of what is in them
// (messages/fields.hpp) or of what is sent when. It comes first in what begins
// a conversation, and stays there. Both ends have the same, or they do not
// talk.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/call.hpp"
#include "messages/ids.hpp"

namespace riffle::work {

inline constexpr std::uint32_t version = 4;

/// What a worker serves.
struct offer {
  std::uint32_t version = work::version;
  std::vector<std::string> tools{};  ///< empty: `problem` says why
  std::uint32_t places = 1;          ///< calls at once
  std::int64_t process = 0;          ///< its pid, of a process of its own
  std::string problem{};

  bool operator==(const offer&) const = default;
};

/// One attempt of a call.
struct assignment {
  std::uint32_t version = work::version;
  run_id run{};
  /// Which actors of the run gave it: the run may have failed since.
  std::uint64_t epoch = 0;
  tool_call call{};
  std::uint32_t attempt = 1;
  /// The session's values as they were when it was given: key -> JSON text.
  std::map<std::string, std::string> state{};
  taken_files files{};  ///< what the model takes
  /// The run's own, absolute; empty: the worker's. On a node it does not count.
  std::string workspace{};

  bool operator==(const assignment&) const = default;
};

struct stop {
  call_id id{};
  std::uint32_t attempt = 0;

  bool operator==(const stop&) const = default;
};

/// From here on the call acts.
struct started {
  call_id id{};
  std::uint32_t attempt = 0;

  bool operator==(const started&) const = default;
};

/// `number` is 1, 2, 3 … within an attempt.
struct progress {
  call_id id{};
  std::uint32_t attempt = 0;
  std::uint64_t number = 0;
  std::string tool{};
  tool_progress_report report{};

  bool operator==(const progress&) const = default;
};

/// A report is on record, or was dropped.
struct ack {
  call_id id{};

  bool operator==(const ack&) const = default;
};

struct done {
  call_id id{};
  std::uint32_t attempt = 0;
  call_result result{};
  /// Number of the last report, which may still be on its way; 0: none.
  /// Nothing: nobody knows, and nobody waits for it.
  std::optional<std::uint64_t> last_progress{};
  /// What the call set in the session, if it ended well; empty text: removed.
  std::map<std::string, std::string> state{};
  /// It did not act: what it was judged by has changed.
  bool moved = false;

  bool operator==(const done&) const = default;
};

/// The worker, or what it ran, broke: whether the call acted is not known.
struct lost {
  call_id id{};
  std::uint32_t attempt = 0;
  std::string reason{};

  bool operator==(const lost&) const = default;
};

struct freed {
  call_id id{};

  bool operator==(const freed&) const = default;
};

}  // namespace riffle::work
