// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/shell_run.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "runtime/base/unique_fd.hpp"
#include "runtime/cli/terminal/program_output.hpp"
#include "tools/builtin/shell/bash.hpp"
#include "tools/process/process_tree.hpp"

extern "C" {
#include <sys/pidfd.h>  // glibc 2.36 does not say that it is C
}

extern char** environ;

namespace riffle::cli {

namespace {

using clock = std::chrono::steady_clock;

/// Behind the wish for its end.
constexpr auto longest_end = std::chrono::seconds{2};

/// Behind its end, for what others write by its order.
constexpr auto longest_rest = std::chrono::milliseconds{200};

/// Of what is long both ends, cut between rows: what stands in a part of one,
/// nobody may have seen there in the end. A row that is very long is cut where
/// no sequence and no character is.
class both_ends {
 public:
  void add(std::string_view x) {
    const auto first = std::min(x.size(), half - head_.size());
    head_ += x.substr(0, first);
    tail_ += x.substr(first);
    if (tail_.size() > 2 * half) drop();
    wrote_ += x.size();
  }
  std::string take() {
    if (wrote_ <= longest_kept) return std::move(head_) + tail_;
    const bool is_all = wrote_ == head_.size() + tail_.size();
    const auto end = is_all ? head_ + tail_ : std::move(tail_);
    const auto tail = tail_of(end);
    head_.resize(head_size(head_));
    const auto left_out = wrote_ - head_.size() - tail.size();
    if (!head_.empty() && !head_.ends_with('\n')) head_ += '\n';
    head_ += "… " + std::to_string(left_out) + " bytes left out …\n";
    return std::move(head_).append(tail);
  }

 private:
  static constexpr std::size_t half = longest_kept / 2;
  /// For the end of a row: else there might be no more than a row.
  static constexpr std::size_t reach = half / 2;

  static std::size_t head_size(std::string_view head) {
    const auto end = head.rfind('\n');
    if (end != head.npos && head.size() - end <= reach) return end + 1;
    return head.size() - begun_output(head);
  }
  static std::string_view tail_of(std::string_view text) {
    const auto from = whole_from(text, text.size() - half);
    if (text[from - 1] == '\n') return text.substr(from);
    for (const char end : {'\n', '\r'}) {
      const auto at = text.substr(0, from + reach).find(end, from);
      if (at != text.npos) return text.substr(at + 1);
    }
    return text.substr(from);
  }

  /// What its beginning is within, the bytes before it tell.
  void drop() { tail_.erase(0, tail_.size() - half - longest_sequence); }

  std::string head_;
  std::string tail_;
  std::size_t wrote_ = 0;
};

/// The shell, until it was waited for.
class started_shell {
 public:
  explicit started_shell(pid_t pid) : pid_{pid} {}

  /// Its status, once it has ended.
  std::optional<int> status() {
    int found = 0;
    if (!status_ && ::waitpid(pid_, &found, WNOHANG) != 0) {
      constexpr int by_signal = 128;
      status_ =
          WIFEXITED(found) ? WEXITSTATUS(found) : by_signal + WTERMSIG(found);
    }
    return status_;
  }
  /// Passes the wish for its end on; true: it has been killed for it.
  bool end(const shell_watch& watch) {
    // It is asked each time: it looks at the terminal, too.
    if (!watch.stopped() || status_) return false;
    const auto now = clock::now();
    if (!asked_) asked_ = now;
    const bool leaves = watch.leaves();
    if (leaves && !std::exchange(told_, true)) {
      for (const auto x : tools::descendants_of(pid_)) {
        unique_fd one{::pidfd_open(x, 0)};
        if (!one) {  // it has ended, or this is an old kernel
          ::kill(x, SIGTERM);
          continue;
        }
        ::pidfd_send_signal(one.get(), SIGTERM, nullptr, 0);
        asked_too_.push_back(std::move(one));
        heirs_.push_back(x);
      }
      ::kill(pid_, SIGTERM);
    }
    if (!insisted_ && (leaves || watch.insists())) insisted_ = now;
    if (insisted_ && now - *insisted_ >= longest_end) {
      // Not what left it before: that is at work by its wish.
      for (const auto x : tools::descendants_of(pid_)) heirs_.push_back(x);
      tools::kill_trees({pid_});
      return true;
    }
    // What it does at its end, nobody else would do.
    if (!insisted_ && now - *asked_ >= longest_end &&
        !std::exchange(lingered_, true))
      watch.lingers();
    return false;
  }

  /// What it had started, and was asked to end with it, has as much time from
  /// then on.
  void end_asked() {
    while (!asked_too_.empty() && clock::now() < *insisted_ + longest_end) {
      std::vector<pollfd> all;
      for (const auto& x : asked_too_) all.push_back({x.get(), POLLIN, 0});
      ::poll(all.data(), all.size(), 50);
      std::size_t i = 0;
      std::erase_if(asked_too_, [&](const unique_fd& /*x*/) {
        return all[i++].revents != 0;
      });
    }
    for (const auto& x : asked_too_)
      ::pidfd_send_signal(x.get(), SIGKILL, nullptr, 0);
  }

  /// Of those that were killed with it this process is the parent now.
  void reap_heirs() {
    const auto until = clock::now() + longest_rest;
    while (!heirs_.empty() && clock::now() < until) {
      std::erase_if(heirs_, [](pid_t x) {
        return ::waitpid(x, nullptr, WNOHANG) == x || ::kill(x, 0) != 0;
      });
      if (!heirs_.empty())
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
  }

 private:
  pid_t pid_;
  std::vector<pid_t> heirs_;
  std::vector<unique_fd> asked_too_;
  std::optional<int> status_;
  std::optional<clock::time_point> asked_;
  std::optional<clock::time_point> insisted_;
  bool told_ = false;
  bool lingered_ = false;
};

/// What something else writes behind the shell goes nowhere, and up to 16 of
/// them are not ended by a pipe that nobody reads.
void drain(unique_fd from) {
  constexpr int most = 16;
  static std::atomic<int> at_work{0};
  if (at_work.fetch_add(1) >= most) {
    --at_work;
    return;
  }
  try {
    std::thread{[fd = std::move(from)] {
      std::array<char, 4096> piece{};
      for (;;) {
        const auto n = ::read(fd.get(), piece.data(), piece.size());
        if (n == 0 || (n < 0 && errno != EINTR)) break;
      }
      --at_work;
    }}.detach();
  } catch (const std::system_error&) {  // there are too many threads
    --at_work;
  }
}

/// Nobody writes any more, and all is read.
bool is_closed(int fd) {
  pollfd x{fd, POLLIN, 0};
  return ::poll(&x, 1, 0) > 0 && (x.revents & POLLIN) == 0;
}

/// Of what is unread a bounded part is passed over.
bool has_writers(int fd) {
  constexpr int most = 64;  // of what writes for ever
  std::array<char, 16384> piece{};
  for (int i = 0; i < most; ++i) {
    pollfd x{fd, POLLIN, 0};
    if (::poll(&x, 1, 0) <= 0) return true;
    if ((x.revents & POLLIN) == 0 ||
        ::read(fd, piece.data(), piece.size()) == 0)
      return false;
  }
  return true;
}

/// Until the shell has ended, and what it wrote is read.
void follow(unique_fd from, started_shell& shell, const shell_watch& watch,
            shell_result& to) {
  constexpr int between_looks = 50;
  both_ends kept;
  std::array<char, 16384> piece{};
  bool ended = false;
  std::size_t rest = 0;  // it wrote that much more
  clock::time_point late{};
  for (bool open = true; open || !ended;) {
    if (!ended && shell.status()) {
      ended = true;
      late = clock::now() + longest_rest;
      int bytes = 0;
      if (open && ::ioctl(from.get(), FIONREAD, &bytes) == 0)
        rest = static_cast<std::size_t>(bytes);
    }
    pollfd x{from.get(), POLLIN, 0};
    const int ready = ::poll(&x, open ? 1 : 0, between_looks);
    if (ready > 0) {
      const auto n = ::read(from.get(), piece.data(), piece.size());
      open = n > 0 || (n < 0 && errno == EINTR);
      const std::string_view text{piece.data(),
                                  static_cast<std::size_t>(n > 0 ? n : 0)};
      if (!text.empty()) watch.show(text);
      to.wrote += text.size();
      kept.add(text);
      if (ended) rest -= std::min(rest, text.size());
    }
    to.ended_by_us = shell.end(watch) || to.ended_by_us;
    // Others may have its output, and write for ever.
    const bool over = ready == 0 || (rest == 0 && clock::now() >= late &&
                                     !is_closed(from.get()));
    if (open && ended && over) break;
  }
  shell.end_asked();
  shell.reap_heirs();
  if (from && has_writers(from.get())) {
    to.left_some = true;
    drain(std::move(from));
  }
  to.output = kept.take();
  to.status = shell.status().value_or(0);
}

}  // namespace

std::string both_ends_of(std::string_view text) {
  both_ends kept;
  kept.add(text);
  return kept.take();
}

expected<shell_result> run_shell(const std::string& command,
                                 const shell_watch& watch) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return unexpected{error{errc::internal, "chat", "no pipe can be made"}};
  unique_fd read_end{ends[0]};
  unique_fd write_end{ends[1]};
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  // Who would read from the keyboard would wait for what nobody knows of.
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  for (const int fd : {1, 2})
    ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), fd);
  std::vector<std::string> settings;
  for (char** x = environ; *x != nullptr; ++x) settings.emplace_back(*x);
  settings = tools::without_editors(std::move(settings));
  std::vector<char*> environment;
  for (auto& x : settings) environment.push_back(x.data());
  environment.push_back(nullptr);
  std::array<std::string, 3> words = {"sh", "-c", command};
  std::array<char*, 4> arguments{words[0].data(), words[1].data(),
                                 words[2].data(), nullptr};
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, "/bin/sh", &actions, nullptr,
                                   arguments.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  write_end = unique_fd{};
  if (failed != 0)
    return unexpected{error{errc::internal, "chat",
                            "the command cannot be started: " +
                                std::generic_category().message(failed)}};
  shell_result out;
  started_shell shell{pid};
  follow(std::move(read_end), shell, watch, out);
  return out;
}

}  // namespace riffle::cli
