// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cli/commands/commands.hpp"
#include "runtime/config/trust.hpp"

namespace riffle::cli {

/// What may be answered: its key, or the whole word, and how it is offered.
struct answer {
  std::string_view key;
  std::string_view word;
  std::string_view offered;  ///< "[y]es"
};

/// Which of `all` a line of the keyboard names; only whole answers count.
std::optional<std::size_t> answer_in(std::string_view line,
                                     const std::vector<answer>& all);

/// A line of the keyboard behind `question`. What was typed before counts for
/// nothing; nothing: the keyboard is closed, or `stopped`.
std::optional<std::string> ask_text(const std::string& question, int keyboard,
                                    const std::function<bool()>& stopped,
                                    console& io);

/// Who keeps what is typed and is no answer.
struct other_typing {
  /// Called right before a question: takes what was typed until now.
  std::function<void()> before{};
  /// A line that came behind it, and is not blank.
  std::function<void(const std::string&)> no_answer{};
};

/// Asks until one of `all` is the answer: its index, or as `ask_text`.
std::optional<std::size_t> ask(const std::string& question,
                               const std::vector<answer>& all, int keyboard,
                               const std::function<bool()>& stopped,
                               console& io, const other_typing& other = {});

/// The same for a yes or a no, which is also the answer of a closed keyboard
/// and of `stopped`. `view`, unless it is empty, is what the person may look at
/// first.
bool confirm(const std::string& question, int keyboard,
             const std::function<bool()>& stopped, console& io,
             const std::string& view = {}, const other_typing& other = {});

/// Shows what a file sets and asks whether it is to be trusted. Keeps nothing.
bool ask_for_trust(const config::trust_state& x, int keyboard, console& io,
                   const other_typing& other = {});

}  // namespace riffle::cli
