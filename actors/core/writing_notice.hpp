// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "messages/time.hpp"
#include "messages/turn.hpp"

namespace riffle::core {

/// Whether a `status` says which call the model writes:
/// "writing src/big.cpp … 1.2k tokens", "writing a call of bash … 300 tokens".
bool is_writing_notice(std::string_view status);

/// The arguments of a call may take minutes to be written, and nothing of them
/// is an event before they are whole: says now and then how far they are.
class writing_notice {
 public:
  static constexpr duration between = std::chrono::seconds{1};

  void on(const call_fragment& x);

  /// The text to tell now, if any: not more than one in `between`, and none
  /// of a call that is short. Ask it behind the fragments that came at once.
  std::optional<std::string> take(time_point now);

 private:
  [[nodiscard]] std::string what() const;

  std::string name_;
  std::string head_;         ///< how the arguments begin
  std::uint64_t bytes_ = 0;  ///< of arguments, of the call that came last
  std::uint32_t index_ = 0;
  std::optional<time_point> last_;  ///< when it was told, or the first came
};

}  // namespace riffle::core
