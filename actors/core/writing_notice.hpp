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

/// The file that a call makes or changes, as far as the beginning of its
/// arguments says so first; empty: it does not.
std::string_view begun_file(std::string_view tool, std::string_view arguments);

/// The arguments of a call may take minutes to be written, and nothing of them
/// is an event before they are whole: says at once what is written, and now and
/// then how far it is.
class writing_notice {
 public:
  static constexpr duration between = std::chrono::seconds{1};

  void on(const call_fragment& x);

  /// The text to tell now, if any: as soon as the tool, and the file, are
  /// known, then not more than one in `between`. Nothing of a call that came at
  /// once. Ask it behind the fragments that came together.
  std::optional<std::string> take(time_point now);

 private:
  [[nodiscard]] std::string what() const;

  std::string name_;
  std::string head_;         ///< how the arguments begin
  std::uint64_t bytes_ = 0;  ///< of arguments, of the call that came last
  std::uint32_t index_ = 0;
  bool is_whole_ = false;
  std::string told_;  ///< of this call, without the number
  std::optional<time_point> last_;
};

}  // namespace riffle::core
