// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "messages/turn.hpp"

namespace riffle::model::openai {

/// Where the one string that a chunk brought stands in its bytes, inside the
/// quotation marks, and what it is: a piece, or with `call` set more arguments
/// of the call with that index.
struct text_place {
  std::size_t begin = 0;
  std::size_t length = 0;
  piece_kind kind = piece_kind::text;
  std::optional<std::uint32_t> call;
};

/// Most chunks of an answer differ in nothing but one string. A chunk that
/// begins and ends with the very bytes of an earlier one, around what may
/// stand in a JSON string, means the same with that string: it need not be
/// parsed.
class chunk_template {
 public:
  /// True: `json` fits, and its string was added to `out`.
  bool read(std::string_view json, turn_delta& out) {
    const auto around = prefix_.size() + suffix_.size();
    if (around == 0 || json.size() < around || !json.starts_with(prefix_) ||
        !json.ends_with(suffix_))
      return false;
    return fill(json.substr(prefix_.size(), json.size() - around), out);
  }

  /// Remembers a chunk that brought one string and nothing else. Gives up on
  /// servers whose chunks differ elsewhere too.
  void learn(std::string_view json, const text_place& place);

 private:
  bool fill(std::string_view text, turn_delta& out);

  std::string prefix_;
  std::string suffix_;
  text_place place_;
  std::uint32_t misses_ = 0;  ///< lessons since a chunk fitted
};

/// Appends what the inside of a JSON string says. False for what is none, and
/// for surrogates, which are rare; `to` may have grown then.
bool append_unescaped(std::string_view text, std::string& to);

/// The code unit of the `\uXXXX` at `i`; nothing if there is none.
std::optional<unsigned> read_escape(std::string_view text, std::size_t i);

}  // namespace riffle::model::openai
