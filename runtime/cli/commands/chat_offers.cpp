// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/chat_offers.hpp"

#include <chrono>

#include "runtime/cli/commands/own_commands.hpp"

namespace riffle::cli {

namespace {

/// The person's own commands, each with what it says of itself.
bool find_own(const name_look::finder& to) {
  std::size_t n = 0;
  for (const auto& x : find_own_commands().all) {
    if (!to.goes_on()) return true;
    // As in /help: what is not listed need not be read.
    const auto text =
        n++ < most_own_listed ? read_own(x) : expected<own_text>{own_text{}};
    to.add([&](auto& all) {
      all.push_back({x.name, text ? text->about : std::string{}});
    });
  }
  return false;
}

/// What else an Enter may send behind a command than what is listed.
bool takes_any(std::string_view command) {
  return command == "model" || command == "resume" || command == "diff";
}

}  // namespace

chat_offers::chat_offers(sources x, look_bounds bounds)
    : from_{std::move(x)}, bounds_{bounds} {}

bool chat_offers::is_slow() const {
  constexpr auto soon = std::chrono::milliseconds{300};
  return std::chrono::steady_clock::now() - since_ >= soon;
}

void chat_offers::forget() {
  names_.reset();
  own_.reset();
  folder_.reset();
  tree_.reset();
  offered_.reset();
  since_ = std::chrono::steady_clock::now();
}

std::optional<typed_offer> chat_offers::offer(std::string_view before_cursor) {
  const auto x = word_before(before_cursor);
  std::tuple word{x.what, x.command, before_cursor.size() - x.size()};
  if (x.what == word_kind::none || word != word_) {
    forget();
    word_ = std::move(word);
  }
  switch (x.what) {
    case word_kind::command: return commands(x);
    case word_kind::path: return paths(x);
    case word_kind::argument:
      return takes_path(x.command) ? paths(x) : names(x);
    case word_kind::none: break;
  }
  return std::nullopt;
}

std::optional<typed_offer> chat_offers::offer_within(
    std::string_view before_cursor, std::chrono::milliseconds longest) {
  const auto until = std::chrono::steady_clock::now() + longest;
  auto out = offer(before_cursor);
  const auto wait_for = [&](const auto* look) {
    if (!out || !out->pending || look == nullptr) return;
    look->wait_until(until);
    out = offer(before_cursor);
  };
  wait_for(own_ ? &*own_ : nullptr);
  wait_for(names_ ? &*names_ : nullptr);
  wait_for(folder_ ? &folder_->second : nullptr);
  wait_for(tree_ ? &tree_->second : nullptr);
  return out;
}

typed_offer chat_offers::commands(const begun_word& x) {
  if (!own_) own_.emplace(bounds_.longest, find_own);
  auto known = own_->by_now();
  for (auto& one : from_.prompts()) known.all.push_back(std::move(one));
  auto out = offer_commands(x, known.all);
  out.pending = !known.over;
  if (known.cut) out.note = "not all of your own commands were looked at";
  return out;
}

name_look chat_offers::look_for_names(const std::string& command) const {
  if (auto find = from_.look ? from_.look(command) : name_finder{})
    return {bounds_.longest, std::move(find)};
  return name_look{from_.names(command)};
}

std::optional<typed_offer> chat_offers::names(const begun_word& x) {
  if (!names_) names_ = look_for_names(x.command);
  const auto known = names_->by_now();
  if (known.all.empty() && known.over && !known.cut) return std::nullopt;
  auto out = offer_names(x, known.all, takes_any(x.command));
  out.pending = !known.over;
  if (out.pending && is_slow()) out.note = "still looking";
  if (known.cut) out.note = "not all of them were looked at";
  return out;
}

typed_offer chat_offers::paths(const begun_word& x) {
  const auto wanted = without_here(x.part);
  const auto folder = folder_part(wanted);
  if (!folder_ || folder_->first != folder)
    folder_.emplace(folder, look_in_folder(folder, bounds_));
  const bool elsewhere = wanted.starts_with('/') || wanted.starts_with("../");
  const bool hidden = wanted.starts_with('.');
  if (elsewhere)
    tree_.reset();
  else if (!tree_ || tree_->first != hidden)
    tree_.emplace(hidden, look_in_tree(hidden, bounds_));
  auto here = folder_->second.by_now();
  auto all = tree_ ? tree_->second.by_now() : path_look::found{{}, true, false};
  const bool only_folder = folder.size() == wanted.size();
  const bool pending = !here.over || (!only_folder && !all.over);
  path_state now{x,        here.all.size() + all.all.size(),
                 here.cut, all.cut,
                 pending,  pending && is_slow()};
  if (offered_ && offered_->first == now) return offered_->second;
  ++ranked_;
  auto offer = offer_paths(x, {.folder = std::move(here.all),
                               .tree = std::move(all.all),
                               .folder_cut = here.cut,
                               .tree_cut = all.cut,
                               .pending = pending,
                               .slow = now.slow});
  offered_.emplace(std::move(now), std::move(offer));
  return offered_->second;
}

}  // namespace riffle::cli
