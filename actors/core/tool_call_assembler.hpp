// SPDX-License-Identifier: MIT
#pragma once

// Makes calls of the fragments that providers stream, by the ten rules of the
// tolerant accumulator. Pure.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "messages/turn.hpp"
#include "runtime/base/digest.hpp"

namespace riffle::core {

/// Follows JSON text byte by byte and tells when it is one whole object:
/// braces balanced outside of strings. Whether it is valid JSON is for the
/// registry to say.
class object_tracker {
 public:
  void feed(std::string_view text) noexcept;

  /// Nothing but white space came.
  [[nodiscard]] bool blank() const noexcept { return state_ == state::blank; }
  /// One object, then at most white space.
  [[nodiscard]] bool whole() const noexcept { return state_ == state::whole; }

 private:
  enum class state : std::uint8_t {
    blank,
    inside,
    string,
    escape,
    whole,
    invalid
  };

  void feed(char c) noexcept;

  state state_ = state::blank;
  std::uint32_t depth_ = 0;
};

/// One call being assembled; `index` counts calls by first appearance.
struct assembled_call {
  std::uint32_t index = 0;
  std::string provider_id;  ///< empty: the provider sent none
  std::string name;
  std::string arguments;  ///< raw text as sent

  bool operator==(const assembled_call&) const = default;
};

enum class assembly_step : std::uint8_t {
  /// Its arguments are one whole JSON object and its name is known. May come
  /// long before the call is closed; at most once.
  whole,
  /// Certainly complete: whole and another call began, or the dialect marked
  /// its end, or the turn ended with a finish or end mark. At most once. The
  /// arguments may be blank (which means `{}`) or no JSON.
  closed,
  /// After `whole` (or `closed`) more text came that is not white space: the
  /// arguments are invalid. Nothing follows.
  malformed,
  /// The turn ended before the call was complete. Nothing follows.
  cut,
  /// Its arguments are longer than the limit: of them only the begin was kept.
  /// Nothing follows.
  too_long,
};

struct assembly_event {
  assembly_step step = assembly_step::whole;
  assembled_call call;

  bool operator==(const assembly_event&) const = default;
};

struct assembly_limits {
  /// Fragments of calls beyond the first so many are dropped: a broken server
  /// must not cost unbounded work, and no sane turn has so many.
  std::size_t most_calls = 16'384;
  /// Of calls beyond the first so many no arguments are kept, as nobody
  /// executes them; 0: of all are.
  std::size_t most_kept = 0;
  /// Bytes of one call's arguments; 0: no limit.
  std::uint64_t max_arguments = 0;
};

/// Instead of the arguments of which none were kept, in all that is said of
/// their call.
inline constexpr std::string_view arguments_not_kept = "[not kept]";

/// The calls of one turn.
class tool_call_assembler {
 public:
  /// What is kept of arguments that are too long.
  static constexpr std::size_t kept_head = 200;

  explicit tool_call_assembler(assembly_limits limits = {}) : limits_{limits} {}

  std::vector<assembly_event> on_fragment(const call_fragment& x);

  /// The turn ended; nothing: it was cut (no finish, no end mark). Fragments
  /// that come later are ignored.
  std::vector<assembly_event> on_turn_end(std::optional<finish_reason> finish);

  /// Calls beyond the most: fragments of them that have a name or an id.
  [[nodiscard]] std::size_t dropped() const noexcept { return dropped_; }
  /// Bytes that came for calls of which no arguments are kept …
  [[nodiscard]] std::uint64_t dropped_bytes() const noexcept {
    return dropped_bytes_;
  }
  /// … and for the others.
  [[nodiscard]] std::uint64_t received() const noexcept { return received_; }

  /// In order of first appearance.
  [[nodiscard]] const std::vector<assembled_call>& calls() const noexcept {
    return calls_;
  }

 private:
  /// What is known of `calls_[i]` beside its text.
  struct progress {
    std::uint32_t choice = 0;
    std::optional<std::uint32_t> key;  ///< the provider's index
    object_tracker tracker;
    std::uint64_t digest = fnv1a({});  ///< of arguments that are not kept
    bool said_whole = false;
    bool said_closed = false;
    bool over = false;  ///< malformed, cut or too long
  };

  /// Where fragments look for their call: the newest of a choice, of an index
  /// in it, and of those the ones with an id. Texts are empty, and the index
  /// is none, where they do not matter.
  struct address {
    std::uint32_t choice = 0;
    std::optional<std::uint32_t> index;
    std::string id;
    bool operator==(const address&) const = default;
  };
  struct address_hash {
    std::size_t operator()(const address& x) const noexcept {
      constexpr std::size_t spread = 0x9e3779b97f4a7c15U;
      const std::size_t index = x.index ? std::size_t{*x.index} + 1 : 0;
      return (std::hash<std::string>{}(x.id) ^ index) * spread + x.choice;
    }
  };

  [[nodiscard]] std::optional<std::size_t> at(const address& x) const;
  [[nodiscard]] std::optional<std::size_t> find(const call_fragment& x) const;
  void note_newest(std::size_t at, const std::string& id);
  [[nodiscard]] bool is_new(std::size_t at, const call_fragment& x) const;
  [[nodiscard]] bool is_repeated(std::size_t at, const call_fragment& x) const;
  std::size_t begin(const call_fragment& x, std::vector<assembly_event>& out);
  void append(std::size_t at, const call_fragment& x,
              std::vector<assembly_event>& out);
  void drop(const call_fragment& x);
  [[nodiscard]] bool is_behind(std::size_t at) const;
  void count(bool dropped, const call_fragment& x);
  void close(std::size_t at, std::vector<assembly_event>& out);
  void say(std::size_t at, assembly_step step,
           std::vector<assembly_event>& out) const;
  [[nodiscard]] bool another_began(std::size_t at) const;

  assembly_limits limits_;
  std::size_t dropped_ = 0;
  std::uint64_t dropped_bytes_ = 0;
  std::uint64_t received_ = 0;
  std::vector<assembled_call> calls_;
  std::vector<progress> progress_;
  std::unordered_map<address, std::size_t, address_hash> newest_;
  bool ended_ = false;
};

}  // namespace riffle::core
