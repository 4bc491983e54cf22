// SPDX-License-Identifier: MIT
#include "actors/core/context_window.hpp"

#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"

namespace riffle::core {

namespace {

/// Bytes of the arguments in a note.
constexpr std::size_t shown_arguments = 120;

constexpr std::string_view of_earlier = " of earlier tasks shortened";
constexpr std::string_view earlier_task = "earlier task";

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

bool is_full(std::uint64_t window, std::uint64_t used) noexcept {
  return window > 0 && used > window - window / 16;
}

std::uint64_t wanted_use(std::uint64_t window) noexcept {
  return window - window / 4;
}

std::string shortened(std::string_view text) {
  constexpr std::size_t begins = 700;
  constexpr std::size_t ends = 300;
  if (text.size() <= begins + ends) return std::string{text};
  const auto begin = cut_utf8(text, begins);
  auto from = text.size() - ends;
  while (from < text.size() && (text[from] & 0xC0) == 0x80) ++from;
  return std::string{begin} + "\n[… " + std::to_string(from - begin.size()) +
         " bytes were left out here to make room …]\n" +
         std::string{text.substr(from)};
}

std::string forgotten_note(std::size_t tasks) {
  return "[" + counted(tasks, earlier_task) +
         " with which this conversation began, and what came of " +
         (tasks == 1 ? "it" : "them") + ", were left out to make room.]";
}

std::string room_text(const made_room& x) {
  std::string out;
  const auto add = [&](std::size_t n, std::string_view what,
                       std::string_view behind) {
    if (n == 0) return;
    out += (out.empty() ? "" : ", ") + counted(n, what) + std::string{behind};
  };
  add(x.outputs, "old tool output", " left out");
  add(x.texts, "long text", of_earlier);
  add(x.tasks, earlier_task, " left out");
  return out;
}

bool is_forgetting(std::string_view status) noexcept {
  return status.starts_with(room_was_made) &&
         status.find(earlier_task) != std::string_view::npos;
}

}  // namespace riffle::core
