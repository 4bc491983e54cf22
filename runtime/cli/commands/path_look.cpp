// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/path_look.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "runtime/base/unique_fd.hpp"
#include "tools/builtin/search/tree_walk.hpp"

namespace riffle::cli {

namespace {

namespace fs = std::filesystem;

/// Paths that are passed on together.
constexpr std::size_t most_of_piece = 2000;

std::atomic<int>& beside() {
  static std::atomic<int> out{0};
  return out;
}

bool is_hidden(std::string_view path) {
  return path.substr(path.rfind('/') + 1).starts_with('.');
}

}  // namespace

bool do_beside(std::function<void()> work) {
  constexpr int most = 8;
  if (beside().fetch_add(1) >= most) {
    --beside();
    return false;
  }
  // Signals are for the threads that expect them.
  sigset_t all{};
  sigset_t before{};
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  bool begun = true;
  try {
    std::thread{[work = std::move(work)] {
      try {
        work();
      } catch (const std::exception&) {
        // Nobody waits for what it would have found.
      }
      --beside();
    }}.detach();
  } catch (const std::system_error&) {
    --beside();
    begun = false;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return begun;
}

struct path_look::state {
  std::mutex mutex;
  found all;
  std::stop_source stop;
  std::vector<known_path> piece;  ///< of the thread that looks
  std::chrono::steady_clock::time_point until;

  void add(std::string path) {
    piece.emplace_back(std::move(path));
    if (piece.size() >= most_of_piece) pass_on();
  }
  void pass_on() {
    if (piece.empty()) return;
    auto next = std::make_shared<const std::vector<known_path>>(
        std::exchange(piece, {}));
    const std::lock_guard lock{mutex};
    all.pieces.push_back(std::move(next));
  }
  void end(bool cut) {
    const std::lock_guard lock{mutex};
    all.over = true;
    all.cut = cut;
  }
  [[nodiscard]] bool has_time() const {
    return std::chrono::steady_clock::now() < until;
  }
};

path_look::path_look(std::shared_ptr<state> x)
    : state_{std::move(x)},
      stops_{nullptr, [of = state_](void*) { of->stop.request_stop(); }} {}

path_look::found path_look::by_now() const {
  const std::lock_guard lock{state_->mutex};
  return state_->all;
}

/// `look` says whether something was left out.
path_look path_look::begin(bounds x, std::function<bool(state&)> look) {
  auto to = std::make_shared<state>();
  to->until = std::chrono::steady_clock::now() + x.longest;
  const bool begun = do_beside([to, look = std::move(look)] {
    bool cut = true;
    try {
      cut = look(*to);
      to->pass_on();
    } catch (const std::exception&) {
      // What was found so far counts.
    }
    to->end(cut);
  });
  if (!begun) to->end(true);
  return path_look{std::move(to)};
}

path_look path_look::in_folder(std::string folder, bounds x) {
  return begin(x, [folder = std::move(folder), x](state& to) {
    std::error_code problem;
    fs::directory_iterator at{folder.empty() ? "." : folder, problem};
    std::size_t n = 0;
    for (; !problem && at != fs::directory_iterator{}; at.increment(problem)) {
      if (++n > x.most_names || !to.has_time()) return true;
      if (to.stop.stop_requested()) return true;
      auto path = folder + at->path().filename().string();
      std::error_code gone;
      if (at->is_directory(gone)) path += '/';
      to.add(std::move(path));
    }
    return false;
  });
}

path_look path_look::in_tree(bool hidden, bounds x) {
  return begin(x, [hidden, x](state& to) {
    const unique_fd root{::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (root.get() < 0) return false;
    tools::tree_walk walk{
        root.get(), {.most_names = x.most_names}, to.stop.get_token()};
    bool cut = false;
    const auto enter = [&](const std::string& folder) {
      return hidden || !is_hidden(folder);
    };
    const auto visit = [&](const std::string& path, tools::entry_kind kind) {
      const bool folder = kind == tools::entry_kind::folder;
      if (hidden || !is_hidden(path)) to.add(folder ? path + "/" : path);
      cut = walk.seen() >= x.most_seen || !to.has_time();
      return !cut;
    };
    walk.run(".", {.enter = enter, .visit = visit});
    return cut || walk.cut_folders() > 0;
  });
}

}  // namespace riffle::cli
