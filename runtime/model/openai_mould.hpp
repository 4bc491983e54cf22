// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "messages/turn.hpp"

namespace riffle::model::openai {

/// Where the one text of a chunk stood in its bytes.
struct text_place {
  std::size_t begin = 0;
  std::size_t length = 0;
  piece_kind kind = piece_kind::text;
};

/// Most chunks of an answer differ in nothing but one text. A chunk that
/// begins and ends with the very bytes of an earlier one, around a text that
/// needs no unescaping, means the same with that text: it need not be parsed.
class chunk_mould {
 public:
  /// True: `json` fits, and its text was added to `out`.
  bool read(std::string_view json, turn_delta& out) {
    const auto around = prefix_.size() + suffix_.size();
    if (around == 0 || json.size() < around || !json.starts_with(prefix_)
        || !json.ends_with(suffix_))
      return false;
    const auto text = json.substr(prefix_.size(), json.size() - around);
    if (!is_plain(text)) return false;
    misses_ = 0;
    if (!text.empty()) out.pieces.add(kind_, text);
    return true;
  }

  /// Remembers a chunk that brought one text and nothing else. Gives up on
  /// servers whose chunks differ elsewhere too.
  void learn(std::string_view json, const text_place& place);

 private:
  static bool is_plain(std::string_view text);

  std::string prefix_;
  std::string suffix_;
  piece_kind kind_ = piece_kind::text;
  std::uint32_t misses_ = 0;  ///< lessons since a chunk fitted
};

}  // namespace riffle::model::openai
