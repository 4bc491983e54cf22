// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/chat_offers.hpp"

#include <mutex>

#include "runtime/cli/commands/own_commands.hpp"

namespace riffle::cli {

namespace {

/// The person's own commands, each with what it says of itself.
std::vector<named_choice> find_own() {
  std::vector<named_choice> out;
  for (const auto& x : find_own_commands().all) {
    // As in /help: what is not listed need not be read.
    const auto text = out.size() < most_own_listed
                          ? read_own(x)
                          : expected<own_text>{own_text{}};
    out.push_back({x.name, text ? text->about : std::string{}});
  }
  return out;
}

/// What else an Enter may send behind a command than what is listed.
bool takes_any(std::string_view command) {
  return command == "model" || command == "resume";
}

}  // namespace

struct chat_offers::own_look {
  std::mutex mutex;
  std::optional<std::vector<named_choice>> all;
};

chat_offers::chat_offers(sources x, path_look::bounds bounds)
    : from_{std::move(x)}, bounds_{bounds} {}

bool chat_offers::is_slow() const {
  constexpr auto soon = std::chrono::milliseconds{300};
  return std::chrono::steady_clock::now() - since_ >= soon;
}

std::optional<typed_offer> chat_offers::offer(std::string_view before_cursor) {
  const auto x = word_before(before_cursor);
  const std::tuple word{x.what, x.command, before_cursor.size() - x.size()};
  if (x.what == word_kind::none || word != word_) {
    names_.reset();
    own_.reset();
    folder_.reset();
    tree_.reset();
    word_ = word;
    since_ = std::chrono::steady_clock::now();
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

typed_offer chat_offers::commands(const begun_word& x) {
  if (!own_) {
    own_ = std::make_shared<own_look>();
    const bool begun = do_beside([to = own_] {
      auto all = find_own();
      const std::lock_guard lock{to->mutex};
      to->all = std::move(all);
    });
    if (!begun) own_->all.emplace();
  }
  auto more = from_.prompts();
  bool pending = false;
  {
    const std::lock_guard lock{own_->mutex};
    pending = !own_->all;
    if (own_->all)
      more.insert(more.begin(), own_->all->begin(), own_->all->end());
  }
  auto out = offer_commands(x, more);
  out.pending = pending;
  return out;
}

std::optional<typed_offer> chat_offers::names(const begun_word& x) {
  if (!names_) names_ = from_.names(x.command);
  if (names_->empty()) return std::nullopt;
  return offer_names(x, *names_, takes_any(x.command));
}

typed_offer chat_offers::paths(const begun_word& x) {
  const auto wanted = without_here(x.part);
  const auto folder = folder_part(wanted);
  if (!folder_ || folder_->first != folder)
    folder_.emplace(folder, path_look::in_folder(folder, bounds_));
  const bool elsewhere = wanted.starts_with('/') || wanted.starts_with("../");
  const bool hidden = wanted.starts_with('.');
  if (elsewhere)
    tree_.reset();
  else if (!tree_ || tree_->first != hidden)
    tree_.emplace(hidden, path_look::in_tree(hidden, bounds_));
  auto here = folder_->second.by_now();
  auto all = tree_ ? tree_->second.by_now() : path_look::found{{}, true, false};
  const bool only_folder = folder.size() == wanted.size();
  const bool pending = !here.over || (!only_folder && !all.over);
  return offer_paths(x, {.folder = std::move(here.pieces),
                         .tree = std::move(all.pieces),
                         .folder_cut = here.cut,
                         .tree_cut = all.cut,
                         .pending = pending,
                         .slow = is_slow()});
}

}  // namespace riffle::cli
