// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/path_look.hpp"

#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "runtime/base/unique_fd.hpp"
#include "tools/builtin/search/tree_walk.hpp"

namespace riffle::cli {

namespace {

namespace fs = std::filesystem;

/// Paths that are passed on together.
constexpr std::size_t most_of_piece = 2000;

bool is_hidden(std::string_view path) {
  return path.substr(path.rfind('/') + 1).starts_with('.');
}

class path_pieces {
 public:
  explicit path_pieces(const path_look::finder& to) : to_{to} {}

  void add(std::string path) {
    piece_.emplace_back(std::move(path));
    if (piece_.size() >= most_of_piece) pass_on();
  }
  void pass_on() {
    if (piece_.empty()) return;
    auto next = std::make_shared<const std::vector<known_path>>(
        std::exchange(piece_, {}));
    to_.add([&](auto& all) { all.push_back(std::move(next)); });
  }
  [[nodiscard]] const path_look::finder& to() const { return to_; }

 private:
  const path_look::finder& to_;
  std::vector<known_path> piece_;
};

bool find_in_folder(const std::string& folder, const look_bounds& x,
                    path_pieces& found) {
  std::error_code problem;
  fs::directory_iterator at{folder.empty() ? "." : folder, problem};
  std::size_t n = 0;
  for (; !problem && at != fs::directory_iterator{}; at.increment(problem)) {
    if (++n > x.most_names || !found.to().goes_on()) return true;
    auto path = folder + at->path().filename().string();
    std::error_code gone;
    if (at->is_directory(gone)) path += '/';
    found.add(std::move(path));
  }
  return false;
}

bool find_in_tree(bool hidden, const look_bounds& x, path_pieces& found) {
  const unique_fd root{::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (root.get() < 0) return false;
  tools::tree_walk walk{
      root.get(), {.most_names = x.most_names}, found.to().stop()};
  bool cut = false;
  const auto enter = [&](const std::string& folder) {
    return hidden || !is_hidden(folder);
  };
  const auto visit = [&](const std::string& path, tools::entry_kind kind) {
    const bool folder = kind == tools::entry_kind::folder;
    if (hidden || !is_hidden(path)) found.add(folder ? path + "/" : path);
    cut = walk.seen() >= x.most_seen || !found.to().goes_on();
    return !cut;
  };
  walk.run(".", {.enter = enter, .visit = visit});
  return cut || walk.cut_folders() > 0;
}

/// `find` says whether something was left out.
path_look begin(const look_bounds& x, std::function<bool(path_pieces&)> find) {
  return path_look{x.longest, [find = std::move(find)](const auto& to) {
                     path_pieces found{to};
                     const bool cut = find(found);
                     found.pass_on();
                     return cut;
                   }};
}

}  // namespace

path_look look_in_folder(std::string folder, look_bounds x) {
  return begin(x, [folder = std::move(folder), x](path_pieces& found) {
    return find_in_folder(folder, x, found);
  });
}

path_look look_in_tree(bool hidden, look_bounds x) {
  return begin(x, [hidden, x](path_pieces& found) {
    return find_in_tree(hidden, x, found);
  });
}

}  // namespace riffle::cli
