// SPDX-License-Identifier: MIT
#pragma once

// Work beside the keys: a file system may be slow, or hang, and a folder may
// have a million files. Nobody waits for any of it.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

namespace riffle::cli {

/// Does it on a thread that nobody waits for. False, and nothing is done: too
/// many of these have not come back.
///
/// It may outlive whoever began it, and still be at work while the program
/// ends: `work` owns all that it touches, and uses no static object that has a
/// destructor, no console and no runtime.
bool do_beside(std::function<void()> work);

/// How many of these have not come back.
int at_work_beside() noexcept;

/// One look at something that may take long, from when it is made; it is given
/// up with the last of its copies. What it has found can be read at any time.
template <class T>
class beside_look {
 public:
  struct found {
    T all{};
    bool over = false;  ///< no more comes
    bool cut = false;   ///< there is more than was looked at
  };

 private:
  struct state {
    mutable std::mutex mutex;
    std::condition_variable ended;
    found now;
    std::stop_source stop;
    std::chrono::steady_clock::time_point until;

    [[nodiscard]] bool has_time() const {
      return std::chrono::steady_clock::now() < until;
    }
    /// What comes behind the end counts no more: it was read by then.
    template <class F>
    void change(F f) {
      const std::lock_guard lock{mutex};
      if (!now.over) f(now);
    }
  };

 public:
  /// For the thread that looks.
  class finder {
   public:
    /// Adds to what was found: `f(T&)`.
    template <class F>
    void add(F f) const {
      of_.change([&](found& x) { f(x.all); });
    }
    /// Somebody still wants it, and it has time.
    [[nodiscard]] bool goes_on() const {
      return of_.has_time() && !of_.stop.stop_requested();
    }
    [[nodiscard]] std::stop_token stop() const { return of_.stop.get_token(); }

   private:
    friend class beside_look;
    explicit finder(state& x) : of_{x} {}
    state& of_;
  };

  /// What was known at once.
  explicit beside_look(T all) : state_{std::make_shared<state>()} {
    state_->now = {std::move(all), true, false};
  }

  /// `look` says whether something was left out, as it was if it throws, or has
  /// not come back after `longest`; see `do_beside` for what it may touch.
  beside_look(std::chrono::milliseconds longest,
              std::function<bool(const finder&)> look)
      : state_{std::make_shared<state>()},
        stops_{nullptr, [of = state_](void*) { of->stop.request_stop(); }} {
    state_->until = std::chrono::steady_clock::now() + longest;
    const bool begun = do_beside([to = state_, look = std::move(look)] {
      bool cut = true;
      try {
        cut = look(finder{*to});
      } catch (const std::exception&) {
        // What was found so far counts.
      }
      end(*to, cut);
    });
    if (!begun) end(*state_, true);
  }

  /// Until no more comes, or it is `then`.
  void wait_until(std::chrono::steady_clock::time_point then) const {
    std::unique_lock lock{state_->mutex};
    state_->ended.wait_until(lock, std::min(then, state_->until),
                             [this] { return state_->now.over; });
  }

  [[nodiscard]] found by_now() const {
    if (!state_->has_time()) end(*state_, true);
    const std::lock_guard lock{state_->mutex};
    return state_->now;
  }

 private:
  static void end(state& x, bool cut) {
    x.change([&](found& now) {
      now.over = true;
      now.cut = cut;
    });
    x.ended.notify_all();
  }

  std::shared_ptr<state> state_;
  std::shared_ptr<void> stops_;  ///< with the last copy
};

}  // namespace riffle::cli
