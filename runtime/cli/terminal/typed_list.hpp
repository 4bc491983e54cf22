// SPDX-License-Identifier: MIT
#pragma once

// A list below the line that is being typed: what may take the place of the
// word before the cursor. It narrows with each letter, and a mark in it is
// moved with the arrows. Pure: keys and offers in, rows out.
//
// It takes keys only where its rows were drawn for the text that stands there:
// nobody means a list that he has not seen.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cli/terminal/keys.hpp"

namespace riffle::cli {

struct list_entry {
  std::string shown{};  ///< harmless, one line
  std::string about{};  ///< the same; may be empty
  std::string by{};     ///< what takes the place of the word
  bool ends = true;     ///< a blank goes behind it
  bool sends = false;   ///< an Enter that takes it sends the line, too

  bool operator==(const list_entry&) const = default;
};

/// What there is for the word before the cursor.
struct typed_offer {
  std::size_t replaces = 0;  ///< bytes of that word
  std::vector<list_entry> entries{};
  std::size_t more = 0;  ///< found, but not among them
  /// How many fit best: they come first. Some may be among `more`.
  std::size_t best = 0;
  std::string common{};  ///< what `by` of all of these begins with
  /// An Enter takes the first one, and sends what stands there otherwise.
  bool marked = false;
  bool pending = false;  ///< there may be more without a key
  std::string note{};    ///< what was not looked at; one line

  bool operator==(const typed_offer&) const = default;
};

class typed_list {
 public:
  static constexpr std::size_t most_rows = 8;
  /// More characters at once were not typed one by one.
  static constexpr std::size_t most_typed = 40;

  /// What a key means.
  enum class outcome : std::uint8_t {
    passes,  ///< it is a key of the text
    moved,
    taken,  ///< `taken`
  };
  struct choice {
    std::size_t replaces = 0;
    std::string by{};
    bool sends = false;

    bool operator==(const choice&) const = default;
  };

  /// `before`: the text before the cursor.
  outcome on(const key& x, std::string_view before);
  /// What the last key has taken; it opens the list for what comes behind it.
  choice take();
  /// The text gets a key: a letter opens the list, what takes letters away, or
  /// completes them, leaves it open, and all else closes it.
  void after(const key& x);
  /// What is typed next may have a list again, and nothing has one by now.
  void hide();
  /// Esc: no list for this word any more. False: none stands there.
  bool close();

  /// A row of it stands there, if only to say what was not looked at, or what
  /// there was before the last key.
  [[nodiscard]] bool stands() const noexcept { return open_ && drawn_; }
  /// Its rows stand there for this text.
  [[nodiscard]] bool seen_for(std::string_view before) const;
  /// What it knows, if it knows anything, is about this text.
  [[nodiscard]] bool is_for(std::string_view before) const {
    return for_.empty() || before == for_;
  }
  /// Whether an offer is wanted for the text that stands there.
  [[nodiscard]] bool wants_offer() const noexcept { return open_; }
  [[nodiscard]] bool pending() const noexcept {
    return open_ && offer_.pending;
  }
  /// What there is for that text; of the same text the mark stays where it
  /// is. True: something else is to be drawn.
  bool offer(std::optional<typed_offer> x, std::string_view before);

  /// Rows of at most `columns` columns; as many as there is room for, which
  /// may be none. From now on they are seen.
  std::vector<std::string> draw(std::size_t columns, std::size_t rows,
                                bool color);

 private:
  bool move(bool down);
  bool clear();
  [[nodiscard]] std::string below(std::size_t shown) const;

  bool open_ = false;
  bool seen_ = false;   ///< what it offers now was drawn
  bool drawn_ = false;  ///< by the last drawing
  typed_offer offer_;
  std::string for_;                  ///< the text before the cursor
  std::optional<std::size_t> mark_;  ///< in the offer
  std::optional<std::size_t> left_;  ///< where a word begins that has none
  choice taken_;
};

}  // namespace riffle::cli
