// SPDX-License-Identifier: MIT
#pragma once

// Whether a model goes round in circles (agents.*.loop_limit): it makes the
// same call again and again and learns nothing new, or two calls in turn, or
// whole steps. First it gets a hint, then the run ends.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::core {

/// A settled call of a step.
struct observed_call {
  std::string tool;
  std::uint64_t asked = 0;   ///< `digest_of` tool and canonical arguments
  std::uint64_t result = 0;  ///< `digest_of` what the model was told
  bool polling = false;      ///< tools.*.polling

  bool operator==(const observed_call&) const = default;
};

/// For comparisons within a process; never stored.
[[nodiscard]] std::uint64_t digest_of(std::string_view text) noexcept;

enum class loop_finding : std::uint8_t { none, hint, loop };

struct loop_report {
  loop_finding what = loop_finding::none;
  std::uint32_t times = 0;  ///< so often in a row
  std::string calls;        ///< "the same call (`read`)", for a sentence

  bool operator==(const loop_report&) const = default;
};

/// What the model is told of a hint.
[[nodiscard]] std::string loop_hint(const loop_report& x);

/// Counts how often a pattern came in a row: a call, two calls in turn, a step
/// or two steps in turn, each with equal arguments and equal results. The
/// `limit`th time is a hint, the next one a loop. Its memory does not grow
/// with the run.
///
/// Calls of polling tools are left out, so that they neither are a loop nor
/// hide one; a polling call that tells something new ends every pattern, since
/// then the world has moved. Equal calls within a step count once: the model
/// could not know their result yet.
class loop_detector {
 public:
  /// 0: there is no limit; 1 counts as 2, since once is no repetition.
  explicit loop_detector(std::uint32_t limit = 0);

  /// All calls of a step, in the model's order.
  loop_report on_step(const std::vector<observed_call>& calls);

 private:
  /// Repetitions with a period of one and of two in a sequence of digests.
  class sequence {
   public:
    void add(std::uint64_t x, std::string_view name);
    [[nodiscard]] std::uint32_t times(std::size_t period) const noexcept {
      return static_cast<std::uint32_t>(runs_[period - 1] / period + 1);
    }
    [[nodiscard]] const std::string& name(std::size_t back) const {
      return names_[back];
    }

   private:
    std::size_t seen_ = 0;
    std::array<std::uint64_t, 2> last_{};  ///< newest first
    std::array<std::string, 2> names_;
    std::array<std::size_t, 2> runs_{};  ///< that equal the one a period before
  };

  bool polled_news(const std::vector<observed_call>& calls);
  [[nodiscard]] std::uint32_t most() const noexcept;
  [[nodiscard]] std::string name_of(std::uint32_t times) const;

  std::uint32_t limit_;
  bool any_ = false;
  sequence calls_;
  sequence steps_;
  std::map<std::uint64_t, std::uint64_t> polled_;  ///< call -> last result
};

}  // namespace riffle::core
