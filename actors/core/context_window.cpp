// SPDX-License-Identifier: MIT
#include "actors/core/context_window.hpp"

#include "messages/utf8.hpp"

namespace riffle::core {

namespace {

/// Bytes of the arguments in a note.
constexpr std::size_t shown_arguments = 120;

}  // namespace

std::uint64_t estimate_tokens(std::string_view text) noexcept {
  std::uint64_t wide = 0;
  for (const char c : text) wide += static_cast<unsigned char>(c) >> 7;
  return (text.size() + wide + 3) / 4;
}

std::uint64_t estimate_file_tokens(const attachment& x) noexcept {
  constexpr std::uint64_t picture = 1600;
  constexpr std::uint64_t bytes_of_page = 64u << 10;
  if (x.type.starts_with("image/")) return picture;
  return picture * (1 + x.bytes / bytes_of_page);
}

bool needs_room(std::uint64_t window, std::uint64_t used) noexcept {
  return window > 0 && used > window - window / 4;
}

std::size_t outputs_to_trim(std::uint64_t window, std::uint64_t used,
                            const std::vector<told_output>& old) {
  if (!needs_room(window, used)) return 0;
  std::size_t count = 0;
  std::size_t useful = 0;  // nothing is gained by the notes behind it
  for (const auto& x : old) {
    if (used <= window / 2) break;
    ++count;
    if (x.tokens <= x.note_tokens) continue;
    used -= x.tokens - x.note_tokens;
    useful = count;
  }
  return useful;
}

std::string trim_note(std::string_view tool, std::string_view arguments,
                      std::uint64_t bytes) {
  const auto shown = cut_utf8(arguments, shown_arguments);
  std::string text = "[The output of ";
  text.append(tool).append(" ").append(shown);
  if (shown.size() < arguments.size()) text += "…";
  return text + " was removed to make room: " + std::to_string(bytes) +
         " bytes. Make the call again if you need it.]";
}

}  // namespace riffle::core
