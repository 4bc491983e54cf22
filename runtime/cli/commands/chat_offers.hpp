// SPDX-License-Identifier: MIT
#pragma once

// What the list below the line of a conversation has: looked up beside the
// keys where it may take long, and once for a word.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/cli/commands/path_look.hpp"
#include "runtime/cli/view/chat_offer.hpp"

namespace riffle::cli {

class chat_offers {
 public:
  /// What the conversation knows; none of it waits for anybody.
  struct sources {
    /// What may stand behind a command; nothing: no list.
    std::function<std::vector<named_choice>(std::string_view command)> names;
    /// Prompts of servers.
    std::function<std::vector<named_choice>()> prompts;
  };

  explicit chat_offers(sources x, path_look::bounds bounds = {});

  /// For the word before the cursor; nothing: there is no list for such.
  std::optional<typed_offer> offer(std::string_view before_cursor);

 private:
  struct own_look;

  typed_offer commands(const begun_word& x);
  std::optional<typed_offer> names(const begun_word& x);
  typed_offer paths(const begun_word& x);
  [[nodiscard]] bool is_slow() const;

  sources from_;
  path_look::bounds bounds_;
  /// What was looked up holds for the word that begins there: its kind, the
  /// command before it, its place.
  std::tuple<word_kind, std::string, std::size_t> word_{};
  std::chrono::steady_clock::time_point since_;
  std::optional<std::vector<named_choice>> names_;
  std::shared_ptr<own_look> own_;
  std::optional<std::pair<std::string, path_look>> folder_;
  std::optional<std::pair<bool, path_look>> tree_;
};

}  // namespace riffle::cli
