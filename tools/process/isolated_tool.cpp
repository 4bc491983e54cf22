// SPDX-License-Identifier: MIT
#include "tools/process/isolated_tool.hpp"

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/base/log.hpp"
#include "tools/process/guard.hpp"
#include "tools/process/worker_child.hpp"

namespace riffle::tools {

namespace {

using nlohmann::json;
using clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr std::string_view lock_prefix = "worker-";

/// What recovery waits for: another name of the child's lock, for one call.
class call_lock {
 public:
  call_lock(const fs::path& child, fs::path call) : call_{std::move(call)} {
    if (call_.empty() || child.empty()) return;
    if (::link(child.c_str(), call_.c_str()) != 0) problem_ = errno;
  }
  call_lock(const call_lock&) = delete;
  call_lock& operator=(const call_lock&) = delete;

  /// The call has ended, and nothing acts for it.
  void release() const {
    std::error_code ignored;
    if (!call_.empty()) fs::remove(call_, ignored);
  }
  [[nodiscard]] int problem() const noexcept { return problem_; }

 private:
  const fs::path call_;
  int problem_ = 0;
};

void remove_stale_locks(const fs::path& folder) {
  std::error_code failure;
  for (fs::directory_iterator at{folder, failure}, end; !failure && at != end;
       at.increment(failure))
    if (at->path().filename().string().starts_with(lock_prefix)) {
      const auto ignored = wait_for_guard(at->path(), clock::now());
      static_cast<void>(ignored);
    }
}

class isolated final : public isolated_tool {
 public:
  isolated(tool_ptr inner, isolation_options options)
      : inner_{std::move(inner)},
        spec_{inner_->spec()},
        options_{std::move(options)} {
    spec_.guarded = true;
  }

  ~isolated() override {
    {
      const std::lock_guard lock{mutex_};
      quit_ = true;
    }
    changed_.notify_all();
    if (keeper_.joinable()) keeper_.join();
  }

  isolated(const isolated&) = delete;
  isolated& operator=(const isolated&) = delete;

  [[nodiscard]] const tool_spec& spec() const noexcept override {
    return spec_;
  }
  [[nodiscard]] std::string title(const json& arguments) const override {
    return inner_->title(arguments);
  }
  [[nodiscard]] std::vector<std::string> keys(
      const json& arguments, const fs::path& workspace) const override {
    return inner_->keys(arguments, workspace);
  }
  [[nodiscard]] rule_subject subject(const json& arguments,
                                     const fs::path& workspace) const override {
    return inner_->subject(arguments, workspace);
  }
  [[nodiscard]] call_preview preview(const json& arguments,
                                     const fs::path& workspace) const override {
    return inner_->preview(arguments, workspace);
  }
  [[nodiscard]] std::optional<read_claim> only_reads(
      const json& arguments, const fs::path& workspace) const override {
    return inner_->only_reads(arguments, workspace);
  }
  [[nodiscard]] std::string definition() const override {
    return inner_->definition();
  }

  void warm_up(fs::path guard_dir) override {
    const std::lock_guard lock{mutex_};
    guard_dir_ = std::move(guard_dir);
    if (keeper_.joinable() || quit_) return;
    if (!guard_dir_.empty()) remove_stale_locks(guard_dir_);
    warm_ = true;
    keeper_ = std::thread{[this] { keep(); }};
  }

  [[nodiscard]] std::size_t children() const override {
    const std::lock_guard lock{mutex_};
    return live_;
  }

  tool_output run(const json& arguments, tool_context& context) override {
    auto child = take(context);
    if (!child) return {child.error().message, child.error(), {}};
    const call_lock lock{(*child)->lock(), context.guard_lock};
    if (lock.problem() != 0) {
      give_back(std::move(*child));
      return no_lock(lock.problem());
    }
    auto end = (*child)->call(arguments, context);
    if (end.usable) {
      give_back(std::move(*child));
    } else {
      log_info("isolation", "a child process of `" + spec_.name +
                                "` is replaced" +
                                (end.lost.empty() ? "" : ": " + end.lost));
      child->reset();
      forget();
    }
    lock.release();
    if (!end.output) throw std::runtime_error{end.lost};
    return std::move(*end.output);
  }

 private:
  using child_ptr = std::unique_ptr<worker_child>;
  struct idle_child {
    child_ptr child;
    clock::time_point since;
  };

  static tool_output no_lock(int why) {
    const std::string message =
        std::string{"the call's lock file cannot be made: "} +
        std::strerror(why);
    return {message, error{errc::internal, "isolation", message}, {}};
  }

  /// The child that was used last: it is the warmest, and others may end.
  expected<child_ptr> take(const tool_context& context) {
    std::vector<child_ptr> dead;  // ends outside of the lock
    fs::path guard_dir;
    {
      const std::lock_guard lock{mutex_};
      while (!idle_.empty()) {
        auto found = std::move(idle_.back().child);
        idle_.pop_back();
        if (found->lives()) return found;
        dead.push_back(std::move(found));
        --live_;
      }
      ++live_;
      guard_dir =
          guard_dir_.empty() ? context.guard_lock.parent_path() : guard_dir_;
    }
    auto made = start(guard_dir);
    if (!made) forget();
    return made;
  }

  expected<child_ptr> start(const fs::path& guard_dir) const {
    static std::atomic<std::uint64_t> count{0};
    worker_child::start_options x;
    x.tool = spec_.name;
    x.configuration = options_.configuration;
    x.program = options_.program;
    if (!guard_dir.empty())
      x.lock =
          guard_dir / (std::string{lock_prefix} + std::to_string(::getpid()) +
                       "-" + std::to_string(++count) + ".lock");
    return worker_child::start(std::move(x));
  }

  void give_back(child_ptr child) {
    const std::lock_guard lock{mutex_};
    idle_.push_back({std::move(child), clock::now()});
    changed_.notify_one();
  }

  void forget() {
    const std::lock_guard lock{mutex_};
    --live_;
    lost_ = true;
    changed_.notify_one();
  }

  /// Keeps one child warm, ends those that nobody needs.
  void keep() {
    std::unique_lock lock{mutex_};
    while (!quit_) {
      lost_ = false;
      if (warm_ && live_ == 0) start_warm(lock);
      if (end_unused(lock) || quit_ || lost_) continue;
      const auto woken = [this] { return quit_ || lost_; };
      if (too_many())
        changed_.wait_until(lock, idle_.front().since + options_.child_idle,
                            woken);
      else
        changed_.wait(lock, [&] { return woken() || too_many(); });
    }
  }

  void start_warm(std::unique_lock<std::mutex>& lock) {
    ++live_;
    const auto guard_dir = guard_dir_;
    lock.unlock();
    auto made = start(guard_dir);
    lock.lock();
    if (made)
      idle_.push_back({std::move(*made), clock::now()});
    else
      --live_;
  }

  [[nodiscard]] bool too_many() const {
    return idle_.size() > 1 && options_.child_idle > duration{};
  }

  /// True if one was ended: time has passed.
  bool end_unused(std::unique_lock<std::mutex>& lock) {
    if (!too_many() || clock::now() < idle_.front().since + options_.child_idle)
      return false;
    auto old = std::move(idle_.front().child);
    idle_.erase(idle_.begin());
    --live_;
    lock.unlock();
    old.reset();
    lock.lock();
    return true;
  }

  const tool_ptr inner_;
  tool_spec spec_;
  const isolation_options options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<idle_child> idle_;  ///< the one used last is last
  std::size_t live_ = 0;          ///< idle or in a call
  fs::path guard_dir_;
  bool warm_ = false;
  bool lost_ = false;
  bool quit_ = false;
  std::thread keeper_;
};

}  // namespace

std::shared_ptr<isolated_tool> isolate(tool_ptr inner,
                                       isolation_options options) {
  return std::make_shared<isolated>(std::move(inner), std::move(options));
}

}  // namespace riffle::tools
