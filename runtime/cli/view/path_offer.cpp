// SPDX-License-Identifier: MIT
// Paths that may take the place of a word, the best ones first.
#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/chat_offer.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t most_offered = 100;

/// Where the name begins; that of a folder has a '/' behind it.
std::size_t name_begin(std::string_view path) {
  const auto end = path.size() - (path.ends_with('/') ? 1 : 0);
  return path.substr(0, end).rfind('/') + 1;  // npos + 1 is 0
}

/// What was typed, in small letters.
struct wanted_path {
  explicit wanted_path(std::string_view x)
      : folder{lower(folder_part(x))}, name{lower(x.substr(folder.size()))} {}

  std::string folder;
  std::string name;
};

struct match {
  bool inside = false;
  std::ptrdiff_t depth = 0;
  const known_path* at = nullptr;

  [[nodiscard]] auto rank() const {
    return std::tuple{inside, depth, std::string_view{at->path}};
  }
};

std::optional<match> match_of(const known_path& x, const wanted_path& wanted) {
  const std::string_view all = x.lower;
  const auto begin = name_begin(all);
  const auto folder = all.substr(0, begin);
  auto name = all.substr(begin);
  if (name.ends_with('/')) name.remove_suffix(1);
  if (name.starts_with('.') && !wanted.name.starts_with('.')) return {};
  const auto found = name.find(wanted.name);
  if (found == name.npos || !folder.ends_with(wanted.folder)) return {};
  // "re/a" is no end of "core/a" but where it goes on so.
  const auto cut = folder.size() - wanted.folder.size();
  const bool between =
      !wanted.folder.empty() && cut > 0 && folder[cut - 1] != '/';
  if (between && found > 0) return {};
  return match{found > 0 || between, std::ranges::count(folder, '/'), &x};
}

/// A quotation mark ends a path that needs them.
bool can_be_meant(std::string_view path) {
  return path.find('"') == path.npos ||
         (path.find(' ') == path.npos && !path.starts_with('"'));
}

class best_paths {
 public:
  best_paths(std::string_view wanted, bool in_text)
      : typed_{wanted}, wanted_{wanted}, in_text_{in_text} {}

  /// But those of one folder, which are known already.
  void add(std::span<const path_piece> pieces,
           const std::optional<std::string>& but = {}) {
    for (const auto& piece : pieces)
      for (const auto& x : *piece)
        if (!but || name_begin(x.path) != but->size() ||
            !x.path.starts_with(*but))
          add(x);
  }

  [[nodiscard]] std::vector<std::string> take() {
    const auto count = std::min(all_.size(), most_offered);
    std::ranges::partial_sort(all_,
                              all_.begin() + static_cast<std::ptrdiff_t>(count),
                              {}, &match::rank);
    std::vector<std::string> out;
    for (std::size_t i = 0; i < count; ++i) out.push_back(all_[i].at->path);
    return out;
  }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  /// Those in the folder that was typed, else those whose name begins so.
  [[nodiscard]] const alike& best() const {
    const auto found = std::ranges::find_if(
        groups_, [](const auto& x) { return x.count() > 0; });
    return found == groups_.end() ? groups_.back() : *found;
  }
  /// What was typed is one of them.
  [[nodiscard]] bool has_typed() const { return has_typed_; }

 private:
  void add(const known_path& x) {
    const auto found = match_of(x, wanted_);
    if (!found || has_control(x.path) || (in_text_ && !can_be_meant(x.path)))
      return;
    all_.push_back(*found);
    const std::string_view path = x.path;
    const bool here = name_begin(path) == wanted_.folder.size();
    groups_[found->inside ? 2 : here ? 0 : 1].add(path);
    has_typed_ =
        has_typed_ || path == typed_ ||
        (path.ends_with('/') && path.substr(0, path.size() - 1) == typed_);
  }

  std::string_view typed_;
  wanted_path wanted_;
  bool in_text_;
  std::vector<match> all_;
  std::array<alike, 3> groups_;
  bool has_typed_ = false;
};

list_entry entry_of(const begun_word& word, std::string path) {
  constexpr std::size_t longest = 400;
  const bool whole = !path.ends_with('/');
  auto shown = safe_line(path, longest);
  if (word.what == word_kind::path)
    path = path_in_text(path, word.quoted, whole);
  return {std::move(shown), {}, std::move(path), whole, false};
}

std::string note_of(const paths_by_now& x, bool only_folder) {
  if (x.pending) return x.slow ? "still looking" : "";
  return x.folder_cut || (x.tree_cut && !only_folder)
             ? "not all of this folder was looked at"
             : "";
}

}  // namespace

known_path::known_path(std::string x)
    : path{std::move(x)}, lower{riffle::lower(path)} {}

std::string without_here(std::string path) {
  while (path.starts_with("./")) path.erase(0, 2);
  return path;
}

std::string folder_part(std::string_view path) {
  return std::string{path.substr(0, path.rfind('/') + 1)};
}

typed_offer offer_paths(const begun_word& x, const paths_by_now& known) {
  const auto wanted = without_here(x.part);
  const auto here = x.part.substr(0, x.part.size() - wanted.size());
  const auto folder = folder_part(wanted);
  // Behind a '/' it is that folder's, and nothing else is meant yet.
  const bool only_folder = folder.size() == wanted.size();
  best_paths best{wanted, x.what == word_kind::path};
  best.add(known.folder);
  if (!only_folder)
    best.add(known.tree,
             known.folder_cut ? std::nullopt : std::optional{folder});
  typed_offer out{.replaces = x.size()};
  for (auto& path : best.take())
    // What would be shown otherwise than it is called is not what is taken.
    if (safe_text(path) == path)
      out.entries.push_back(entry_of(x, here + path));
  out.more = best.size() - out.entries.size();
  out.best = best.best().count();
  if (out.best > 0) out.common = here + best.best().common();
  if (out.best > 0 && x.what == word_kind::path)
    out.common = path_in_text(out.common, x.quoted, false);
  out.marked = x.what == word_kind::path && !only_folder && !best.has_typed();
  out.pending = known.pending;
  out.note = note_of(known, only_folder);
  return out;
}

}  // namespace riffle::cli
