// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include "actors/core/command_doubt.hpp"
#include "actors/core/shell_parts.hpp"

namespace riffle::core {

/// Words of a part; they live as long as its line.
using shell_words = std::span<const shell_word>;

/// What ends a command in a text, or begins another one.
inline constexpr std::string_view shell_operators = ";&|<>()`\n";

/// "/bin/rm" is "rm".
std::string_view without_folders(std::string_view x);

inline bool is_option(std::string_view x) { return x.starts_with('-'); }

inline bool is_plain(const shell_word& x) { return x.kind == word_kind::plain; }

/// The targets of a part's redirections are its last words.
shell_words without_targets(shell_words x);

/// One pattern of a rule, taken apart. The pattern outlives it.
class command_pattern {
 public:
  explicit command_pattern(std::string_view pattern);

  /// Of a simple command without reserved words and assignments.
  [[nodiscard]] may_be direct(shell_words x) const;

  /// Any command may be what it names.
  [[nodiscard]] bool any() const { return any_; }

  /// Whether a text that a program may expand can become its name.
  [[nodiscard]] bool may_name(std::string_view text) const;

  /// Whether the name may end so, if nobody knows what stands before it.
  [[nodiscard]] bool may_end_in(std::string_view end) const;

  /// Whether a program of this name may be the pattern's.
  [[nodiscard]] bool names(std::string_view program) const;

 private:
  [[nodiscard]] bool fits(std::string_view command, shell_words rest) const;
  [[nodiscard]] may_be fits_as_it_is(shell_words x) const;
  [[nodiscard]] may_be targets_only(shell_words x) const;
  [[nodiscard]] bool has_all_words(shell_words x) const;

  std::string_view pattern_;
  std::string_view command_;
  std::string_view rest_;
  std::string_view short_command_;
  bool any_ = false;
  bool open_ended_ = false;
  bool has_operator_ = false;
};

}  // namespace riffle::core
