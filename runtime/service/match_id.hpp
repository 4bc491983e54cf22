// SPDX-License-Identifier: MIT
#pragma once

// Ids as people type them: the beginning or the ending of one is enough, if
// only one has it; and titles, by words of them. Pure.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.hpp"
#include "messages/ids.hpp"

namespace re2 {
class RE2;
}  // namespace re2

namespace riffle::service {

/// Ids begin with the time and end with chance: so short a part says little.
inline constexpr std::size_t shortest_part = 4;

/// Whether an id begins or ends with `part`, which is long enough to say so.
[[nodiscard]] bool is_part_of(const std::string& part, const std::string& id);

/// The id of `all` that is `part`, else the only one that begins or ends with
/// it. Fails with `not_found`, and with `invalid_request`, naming some, where
/// several do.
expected<session_id> match_id(const std::string& part,
                              std::span<const session_id> all);
expected<proposal_id> match_id(const std::string& part,
                               std::span<const proposal_id> all);

/// Words to find texts by; capital and small letters are the same.
class word_search {
 public:
  explicit word_search(std::string_view words);
  ~word_search();
  word_search(const word_search&) = delete;
  word_search& operator=(const word_search&) = delete;

  /// Whether each of them stands somewhere in the text. No words: yes.
  [[nodiscard]] bool finds(std::string_view text) const;

 private:
  std::vector<std::unique_ptr<re2::RE2>> words_;
};

}  // namespace riffle::service
