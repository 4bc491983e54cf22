// SPDX-License-Identifier: MIT
#pragma once

// What the list below the line of a conversation has: looked up beside the
// keys where it may take long, and once for a word.

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/cli/commands/path_look.hpp"
#include "runtime/cli/view/chat_offer.hpp"

namespace riffle::cli {

using name_look = beside_look<std::vector<named_choice>>;
/// Says whether something was left out.
using name_finder = std::function<bool(const name_look::finder&)>;

class chat_offers {
 public:
  /// What the conversation knows; none of it waits for anybody.
  struct sources {
    /// What may stand behind a command; nothing: no list.
    std::function<std::vector<named_choice>(std::string_view command)> names;
    /// Prompts of servers.
    std::function<std::vector<named_choice>()> prompts;
    /// For a command whose names have to be looked for; empty: `names` has
    /// them. See `beside_look` for what that may touch.
    std::function<name_finder(std::string_view command)> look = {};
  };

  explicit chat_offers(sources x, look_bounds bounds = {});

  /// For the word before the cursor; nothing: there is no list for such. Of an
  /// empty text, with which a line ends, nothing stays known.
  std::optional<typed_offer> offer(std::string_view before_cursor);

  /// The same, behind at most `longest` if that has to be looked up.
  std::optional<typed_offer> offer_within(std::string_view before_cursor,
                                          std::chrono::milliseconds longest);

  /// How often paths were put in order, which takes a while where there are
  /// many.
  [[nodiscard]] std::size_t times_ranked() const noexcept { return ranked_; }

 private:
  /// Of what paths were put in order.
  struct path_state {
    begun_word word;
    std::size_t pieces = 0;
    bool folder_cut = false;
    bool tree_cut = false;
    bool pending = false;
    bool slow = false;

    bool operator==(const path_state&) const = default;
  };

  void forget();
  typed_offer commands(const begun_word& x);
  std::optional<typed_offer> names(const begun_word& x);
  typed_offer paths(const begun_word& x);
  name_look look_for_names(const std::string& command) const;
  [[nodiscard]] bool is_slow() const;

  sources from_;
  look_bounds bounds_;
  /// What was looked up holds for the word that begins there: its kind, the
  /// command before it, its place.
  std::tuple<word_kind, std::string, std::size_t> word_{};
  std::chrono::steady_clock::time_point since_;
  std::optional<name_look> names_;
  std::optional<name_look> own_;
  std::optional<std::pair<std::string, path_look>> folder_;
  std::optional<std::pair<bool, path_look>> tree_;
  std::optional<std::pair<path_state, typed_offer>> offered_;
  std::size_t ranked_ = 0;
};

}  // namespace riffle::cli
