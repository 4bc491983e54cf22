// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::model {

/// Most events of an answer differ in one string, and in a number or a time
/// that nobody reads. What has the very bytes of an earlier one around them
/// means the same with that string: it need not be parsed. (The openai dialect
/// has one of its own, which is told where the string stands.)
class text_template {
 public:
  /// True: `json` fits, and `text` is what its string says. Else `text` is
  /// undefined.
  bool read(std::string_view json, std::string& text);

  /// Remembers an event that brought one string and nothing else, which stands
  /// at the end of `path` (names of members). Gives up on servers whose events
  /// differ elsewhere too.
  void learn(std::string_view json, std::span<const std::string_view> path);

 private:
  enum class hole : std::uint8_t {
    none,    ///< the end
    text,    ///< the string, inside of its quotation marks
    number,  ///< digits
    plain,   ///< a string without escapes, inside
  };
  struct part {
    std::string before;  ///< the bytes in front of the hole
    hole what = hole::none;
  };
  struct place {
    std::size_t begin = 0;
    std::size_t end = 0;
    hole what = hole::none;
  };
  class finder;

  static bool pass(hole what, std::string_view& json, std::string& text);

  std::vector<part> parts_;
  std::uint32_t misses_ = 0;  ///< lessons since an event fitted
};

}  // namespace riffle::model
