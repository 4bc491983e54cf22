// SPDX-License-Identifier: MIT
#include "tools/builtin/search/tree_walk.hpp"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <ranges>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "runtime/base/folders.hpp"
#include "tools/builtin/files/path_confinement.hpp"

namespace riffle::tools {

namespace {

constexpr std::size_t most_unreadable = 10;
constexpr std::size_t longest_rules = 1u << 20;
constexpr unsigned stop_interval = 256;  ///< entries between looks at the stop

entry_kind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return entry_kind::file;
  if (S_ISDIR(mode)) return entry_kind::folder;
  return S_ISLNK(mode) ? entry_kind::link : entry_kind::other;
}

entry_kind kind_of(int folder, const dirent& x) {
  switch (x.d_type) {
    case DT_REG: return entry_kind::file;
    case DT_DIR: return entry_kind::folder;
    case DT_LNK: return entry_kind::link;
    case DT_UNKNOWN: break;  // some file systems do not tell
    default: return entry_kind::other;
  }
  struct stat info{};
  if (::fstatat(folder, x.d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
    return entry_kind::other;
  return kind_of(info.st_mode);
}

/// A folder of the workspace, no link on the way.
auto open_here(int root, const std::string& path) {
  return open_beneath(root, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK,
                      resolver::automatic, links::refused);
}

/// Rules beneath a folder. As git, not through a symbolic link; of a very
/// long file its first lines.
ignore_rules rules_in(int folder, const std::string& name) {
  const auto fd =
      open_beneath(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  struct stat info{};
  if (!fd || ::fstat(fd->get(), &info) != 0 || !S_ISREG(info.st_mode))
    return {};
  std::string text(std::min<std::size_t>(static_cast<std::size_t>(info.st_size),
                                         longest_rules),
                   '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const auto count = ::read(fd->get(), &text[size], text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    size += static_cast<std::size_t>(count);
  }
  text.resize(size);
  if (size == longest_rules) text.resize(text.rfind('\n') + 1);
  return ignore_rules{text};
}

}  // namespace

std::string without_detours(const std::string& path) {
  auto result = std::filesystem::path{path}.lexically_normal().string();
  while (result.size() > 1 && result.ends_with('/')) result.pop_back();
  return result;
}

tree_walk::tree_walk(int root, options x, std::stop_token stop)
    : root_{root}, options_{x}, stop_{std::move(stop)} {}

int tree_walk::run(const std::string& start, const visitor& visit) {
  if (const auto number = load_above(start); number != 0) return number;
  if (const auto number = push(start == "." ? "" : start + "/")) return number;
  while (!levels_.empty()) {
    if (stop_.stop_requested()) return ECANCELED;
    auto& here = levels_.back();
    if (here.next == here.entries.size())
      levels_.pop_back();
    else if (!visit_next(visit))
      break;
  }
  return stop_.stop_requested() ? ECANCELED : 0;
}

/// Rules of the folders above the start count as if the walk began at the top.
int tree_walk::load_above(const std::string& start) {
  if (options_.include_ignored || start == ".") return 0;
  for (std::size_t end = 0; end != std::string::npos;
       end = start.find('/', end + 1)) {
    level here;
    if (end > 0) here.path = start.substr(0, end) + "/";
    const auto folder = open_here(root_, end == 0 ? "." : start.substr(0, end));
    if (!folder) return folder.error() == EACCES ? 0 : folder.error();
    load_rules(folder->get(), here);
    above_.push_back(std::move(here));
  }
  return 0;
}

int tree_walk::push(const std::string& path) {
  const auto folder =
      open_here(root_, path.empty() ? "." : path.substr(0, path.size() - 1));
  if (!folder) return folder.error();
  level here{.path = path};
  if (const auto number = read_names(folder->get(), here)) return number;
  if (!options_.include_ignored) load_rules(folder->get(), here);
  levels_.push_back(std::move(here));
  return 0;
}

int tree_walk::read_names(int folder, level& to) {
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return errno;
  const unique_dir dir{::fdopendir(copy)};
  if (!dir) return ENOMEM;
  while (const auto* x = ::readdir(dir.get())) {
    const std::string_view name = x->d_name;
    if (name == "." || name == ".." || name == ".git") continue;
    if (to.entries.size() == options_.most_names) {
      ++cut_;
      break;
    }
    to.entries.push_back({std::string{name}, kind_of(copy, *x)});
    const bool look = to.entries.size() % stop_interval == 0;
    if (look && stop_.stop_requested()) return ECANCELED;
  }
  std::sort(to.entries.begin(), to.entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return 0;
}

void tree_walk::load_rules(int folder, level& to) const {
  to.rules = rules_in(folder, ".gitignore");
  to.exclude = rules_in(folder, ".git/info/exclude");
}

/// The rules of the innermost folder decide; exclude files come last.
bool tree_walk::ignored(const std::string& path, bool folder) const {
  if (options_.include_ignored) return false;
  for (const auto part : {&level::rules, &level::exclude}) {
    for (const auto* levels : {&levels_, &above_}) {
      for (const auto& x : *levels | std::views::reverse) {
        if (stop_.stop_requested()) return true;  // a file has many rules
        const auto how = (x.*part).of(path.substr(x.path.size()), folder);
        if (how != verdict::none) return how == verdict::ignored;
      }
    }
  }
  return false;
}

bool tree_walk::visit_next(const visitor& visit) {
  auto& here = levels_.back();
  const auto& x = here.entries[here.next++];
  ++seen_;
  const auto path = here.path + x.name;
  const bool folder = x.kind == entry_kind::folder;
  if (ignored(path, folder)) return true;
  if (!visit.visit(path, x.kind)) return false;
  if (!folder || !visit.enter(path)) return true;
  const auto number = push(path + "/");
  if (number == 0 || number == ENOENT || number == ENOTDIR || number == ELOOP ||
      number == ECANCELED)
    return true;  // gone meanwhile, or the caller sees the stop
  ++unreadable_count_;
  if (unreadable_.size() < most_unreadable) unreadable_.push_back(path);
  return true;
}

}  // namespace riffle::tools
