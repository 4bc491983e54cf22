// SPDX-License-Identifier: MIT
#pragma once

// Whether a key answers the open question, or belongs to what a person is
// typing: no letter of a sentence decides anything. Pure: time goes in.

#include <cstdint>
#include <optional>

#include "messages/time.hpp"
#include "runtime/cli/terminal/keys.hpp"

namespace riffle::cli {

enum class key_goal : std::uint8_t {
  answer,  ///< of the question
  text,    ///< of the input line
  moved,   ///< Tab: the other one of both is meant from now on
};

class answer_gate {
 public:
  /// Who typed so shortly before a question did not see it; and after so much
  /// silence whoever types nothing else may answer …
  static constexpr duration quiet_before = std::chrono::milliseconds{500};
  /// … and who types so shortly behind it did not read it.
  static constexpr duration quiet_after = std::chrono::milliseconds{300};
  /// Who was about to answer a question that went by itself did not read this
  /// one.
  static constexpr duration quiet_behind_another =
      std::chrono::milliseconds{1500};
  /// A paste that nothing marks, with a Tab in it, comes faster.
  static constexpr duration between_keys = std::chrono::milliseconds{50};

  /// A key for the input line, while no question stood there.
  void typed(time_point now) { last_typed_ = now; }

  /// A question appears. `draft`: something stands in the input line, or was
  /// typed that nobody has looked at.
  void open(time_point now, bool draft);

  /// The question that is open takes no answer before that.
  void not_before(time_point when);

  /// A question takes the place of one that went while a person typed a part of
  /// its answer: Tab makes keys answers, or silence behind taking away what
  /// stands in the input line now.
  void open_away(time_point now);

  /// The process was stopped and goes on at the same question: what comes with
  /// that is no answer, and all else is as it was.
  void went_on(time_point now, bool draft);

  /// `alone`: nothing else came with it; a paste, and what was typed while
  /// nobody looked, come together. `draft`: as of now.
  key_goal on(const key& x, bool alone, time_point now, bool draft);

  /// The key was no answer: what follows is a text.
  void not_an_answer(time_point now);

  /// Time passes: silence beside an empty line makes keys answers again. True:
  /// now they are.
  bool look(time_point now, bool draft);

  /// So shortly behind its beginning, or `went_on`, that nobody has read it.
  [[nodiscard]] bool is_unread(time_point now) const noexcept {
    return now - opened_ < quiet_after;
  }
  /// Keys answer; else Tab comes first, or silence.
  [[nodiscard]] bool answers() const noexcept { return answers_; }
  /// A person chose the input line by Tab: silence changes nothing.
  [[nodiscard]] bool away() const noexcept { return away_; }

 private:
  bool answers_ = false;
  bool away_ = false;
  bool torn_ = false;       ///< away by `open_away` …
  bool had_draft_ = false;  ///< … and its words stood in the input line
  time_point opened_{};
  std::optional<time_point> last_typed_;
};

}  // namespace riffle::cli
