// SPDX-License-Identifier: MIT
#pragma once

// Goes through a folder of the workspace, in an order that is always the same.

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/unique_fd.hpp"
#include "tools/builtin/search/ignore_rules.hpp"

namespace riffle::tools {

enum class entry_kind : std::uint8_t { file, folder, link, other };

/// Walks depth first, the names of a folder in the order of their bytes.
/// Follows no symbolic links, so that nothing comes twice and
/// loops do not matter. Leaves out `.git`, and what .gitignore files and
/// .git/info/exclude in the workspace say (gitignore(5); files outside the
/// workspace, as the user's own, do not count). Memory: the names of the
/// folders on the way to here.
class tree_walk {
 public:
  struct options {
    bool include_ignored = false;
    /// Names read of one folder; more are left out and counted.
    std::size_t most_names = 1'000'000;
  };
  struct visitor {
    /// Whether to look into a folder (workspace path).
    std::function<bool(const std::string& folder)> enter;
    /// Any entry, a folder before what is in it; false ends the walk.
    std::function<bool(const std::string& path, entry_kind kind)> visit;
  };

  /// `root`: the open workspace; it must outlive this.
  tree_walk(int root, options x, std::stop_token stop);

  /// `start`: a place of the workspace (place.hpp). It is walked also where a
  /// rule would ignore it. 0, ECANCELED (stopped), or the errno of opening the
  /// start; ELOOP: links have changed, it is no place any more.
  int run(const std::string& start, const visitor& visit);

  /// Entries looked at.
  [[nodiscard]] std::uint64_t seen() const noexcept { return seen_; }
  /// Folders that could not be read, at most some of them named.
  [[nodiscard]] const std::vector<std::string>& unreadable() const noexcept {
    return unreadable_;
  }
  [[nodiscard]] std::uint64_t unreadable_count() const noexcept {
    return unreadable_count_;
  }
  /// Folders with more names than are read.
  [[nodiscard]] std::uint64_t cut_folders() const noexcept { return cut_; }

 private:
  struct entry {
    std::string name;
    entry_kind kind = entry_kind::other;
  };
  struct level {
    std::string path;  ///< "" or with a "/" at its end
    std::vector<entry> entries;
    std::size_t next = 0;
    ignore_rules rules;    ///< of its .gitignore
    ignore_rules exclude;  ///< of its .git/info/exclude
  };

  int load_above(const std::string& start);
  int push(const std::string& path);
  int read_names(int folder, level& to);
  void load_rules(int folder, level& to) const;
  [[nodiscard]] bool ignored(const std::string& path, bool folder) const;
  bool visit_next(const visitor& visit);

  int root_;
  options options_;
  std::stop_token stop_;
  std::vector<level> above_;   ///< rules of the folders above the start
  std::vector<level> levels_;  ///< from the start down to here
  std::uint64_t seen_ = 0;
  std::vector<std::string> unreadable_;
  std::uint64_t unreadable_count_ = 0;
  std::uint64_t cut_ = 0;
};

/// "a/./b/../c" -> "a/c", by text alone; "." for the top. Begins with ".." if
/// it leads out.
std::string without_detours(const std::string& path);

}  // namespace riffle::tools
