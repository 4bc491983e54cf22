// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/chat_completion.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/chat_offer.hpp"

namespace riffle::cli {

namespace {

std::string told_cut(const begun_word& word) {
  const bool of_path = word.what == word_kind::path || takes_path(word.command);
  return of_path ? "  (not all of this folder was looked at)\n"
                 : "  (not all of them were looked at)\n";
}

std::string choices_text(const typed_offer& x, std::size_t columns) {
  constexpr std::size_t most = 40;
  const auto shown = std::min({x.best, x.entries.size(), most});
  std::string out;
  for (std::size_t i = 0; i < shown; ++i)
    out += "  " + fit(x.entries[i].shown, columns > 4 ? columns - 3 : 1) + "\n";
  if (x.best > shown)
    out += "  … " + std::to_string(x.best - shown) + " more\n";
  return out;
}

/// What is typed is part of it, and it says more.
bool says_more(const typed_offer& x, const begun_word& word) {
  return x.common.size() > x.replaces &&
         lower(x.common).find(lower(without_here(word.part))) !=
             std::string::npos;
}

/// The best of what there is in place of the word; where that is not certain,
/// what these have in common, if it says more. Where there may be others, a
/// person chooses.
chat_prompt::completion choice_of(const typed_offer& x, const begun_word& word,
                                  bool cut, std::size_t columns) {
  auto choices = choices_text(x, columns);
  if (cut) return {0, {}, choices + told_cut(word)};
  const auto& first = x.entries.front();
  if (x.best == 1) return {x.replaces, first.by + (first.ends ? " " : ""), {}};
  if (says_more(x, word)) return {x.replaces, x.common, {}};
  return {0, {}, std::move(choices)};
}

chat_prompt::completion nothing_like(const begun_word& word, bool cut) {
  // Of what is saved the name may be new, and a '/' may begin any text.
  const bool any = word.command == "save" || word.what == word_kind::command;
  if (any || word.part.empty()) return {};
  const auto name = safe_line(word.part, 100) + "\n";
  if (!cut) return {0, {}, "  nothing here is called " + name};
  return {0, {}, "  nothing was found that is called " + name + told_cut(word)};
}

}  // namespace

chat_prompt::completion complete_chat(std::string_view before_cursor,
                                      std::size_t columns,
                                      std::span<const std::string> more,
                                      const waited_offer& known) {
  const auto word = word_before(before_cursor);
  std::optional<typed_offer> x;
  if (word.what == word_kind::command) {
    std::vector<named_choice> names;
    for (const auto& name : more) names.push_back({name, {}});
    x = offer_commands(word, names);
  } else if (word.what != word_kind::none && known) {
    x = known(before_cursor);
  }
  if (!x) return {};
  const bool cut = x->pending || !x->note.empty();
  return x->entries.empty() ? nothing_like(word, cut)
                            : choice_of(*x, word, cut, columns);
}

}  // namespace riffle::cli
