// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/chat_files.hpp"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "messages/utf8.hpp"
#include "runtime/base/media.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/commands/file_part.hpp"
#include "runtime/cli/view/chat_line.hpp"

namespace riffle::cli {

namespace {

bool is_text(std::string_view x) { return x.find('\0') == std::string::npos; }

/// The last may have no end.
std::size_t lines_in(std::string_view x) {
  const auto ends = static_cast<std::size_t>(std::ranges::count(x, '\n'));
  return ends + (x.empty() || x.ends_with('\n') ? 0 : 1);
}

std::size_t not_utf8(std::string_view x) {
  std::size_t out = 0;
  while (!x.empty()) {
    const auto c = first_character(x);
    if (!c.valid) ++out;
    x.remove_prefix(c.size);
  }
  return out;
}

/// What a person does not see in its name.
std::string about_text(const file_part& part, std::string_view text) {
  auto out = part.first == 0 ? counted(lines_in(text), "line") : std::string{};
  if (const auto n = not_utf8(text); n > 0)
    out += (out.empty() ? "" : "; ") + counted(n, "place") +
           (n == 1 ? " is" : " are") +
           " not UTF-8, the model gets U+FFFD there";
  return out.empty() ? out : " (" + out + ")";
}

error too_large(const std::string& name, const char* limit) {
  return {errc::invalid_request, "chat",
          name + " is larger than " + limit +
              ": attach some lines of it (@FILE:10-20), or name it without '@' "
              "and let the model read parts of it"};
}

}  // namespace

expected<std::string> attach_mentioned(run_request& x,
                                       std::span<const std::string> but) {
  constexpr std::size_t most_each = 256u << 10;
  constexpr std::size_t most_all = 1u << 20;
  std::string names;
  std::size_t used = 0;
  for (const auto& word : mentioned_files(x.task)) {
    if (std::ranges::find(but, word) != but.end()) continue;
    auto part = find_part(word).part;
    if (!part) continue;
    const auto& name = part->name;
    auto text = text_of(*part, most_each);
    if (!text) return unexpected{std::move(text.error())};
    names += (names.empty() ? "" : ", ") + shown(*part);
    const bool is_media = !media_type_of(*text).empty();
    if (!is_media && is_text(*text)) names += about_text(*part, *text);
    if (is_media) {
      x.attachments.push_back({name});
      continue;
    }
    if (text->size() > most_each) return unexpected{too_large(name, "256 KiB")};
    used += text->size();
    if (used > most_all)
      return unexpected{too_large("what is attached", "1 MiB together")};
    if (!is_text(*text))
      return unexpected{error{errc::invalid_request, "chat",
                              name + " is neither a text, nor a picture, nor "
                                     "a PDF"}};
    x.context += (x.context.empty() ? "" : "\n\n") + std::string{"File "} +
                 (part->first == 0 ? name : shown(*part)) + ":\n" + *text;
  }
  return names;
}

std::vector<std::string> not_attached(const std::string& task) {
  std::vector<std::string> out;
  // In a text of several lines it may be code.
  const bool one_line = task.find('\n') == task.npos;
  for (const auto& word : mentioned_files(task)) {
    auto found = find_part(word);
    if (!found.problem.empty() && (one_line || !found.is_word))
      out.push_back(std::move(found.problem));
  }
  return out;
}

}  // namespace riffle::cli
