// SPDX-License-Identifier: MIT
#pragma once

// What a person edits of a call: the new content of a file, a command, or the
// arguments as JSON. Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "messages/error.hpp"

namespace riffle::cli {

class call_edit {
 public:
  /// `file`: what the file of `path_to_edit` holds now; nothing: it is not
  /// there, or cannot be read.
  call_edit(std::string tool, std::string arguments,
            std::optional<std::string> file);

  /// The file whose content `write` and `edit` change, as it is named there.
  static std::optional<std::string> path_to_edit(std::string_view tool,
                                                 const std::string& arguments);

  /// What the editor opens, and how the name of its file ends.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string ending() const;

  /// The first line of it that is not the file's, from 1.
  [[nodiscard]] std::size_t first_line() const;

  /// The file as it was when this began, where its content is what is edited.
  [[nodiscard]] bool is_of_content() const;
  [[nodiscard]] const std::optional<std::string>& file() const noexcept {
    return file_;
  }

  /// The arguments (a compact JSON object) for what the editor left. `now`:
  /// what the file holds by now, in whose place it comes.
  [[nodiscard]] expected<std::string> arguments_of(
      std::string_view text, const std::optional<std::string>& now) const;

  /// Whether these, which came from `arguments_of`, put their text in the place
  /// of all that the file holds by now.
  [[nodiscard]] bool replaces_all(const std::string& arguments,
                                  const std::optional<std::string>& now) const;

  /// What these arguments, which came from `arguments_of`, do: a diff, a
  /// command; empty where that is not known.
  [[nodiscard]] std::string preview_of(const std::string& arguments) const;

 private:
  enum class what : std::uint8_t { content, change, command, json };

  std::string tool_;
  std::string arguments_;
  std::optional<std::string> file_;
  what what_ = what::json;
};

}  // namespace riffle::cli
