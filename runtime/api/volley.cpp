// SPDX-License-Identifier: MIT
#include "runtime/api/volley.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "runtime/api/readers.hpp"
#include "runtime/api/runtime_impl.hpp"
#include "runtime/service/volleys.hpp"

namespace riffle {

namespace {

constexpr duration longest_wait = std::chrono::hours{24 * 365};

std::chrono::steady_clock::time_point deadline_in(duration limit) {
  return std::chrono::steady_clock::now() + std::min(limit, longest_wait);
}

}  // namespace

/// Between the threads of the runtime and the one that reads. Of each task it
/// holds the bounded queue of one run's stream.
struct volley::state final
    : public service::volley_listener,
      public std::enable_shared_from_this<volley::state> {
  using stream = event_stream::state;

  struct slot {
    std::deque<volley_update::begun> begun;  ///< not handed out yet
    std::shared_ptr<stream> events;          ///< of the run handed out last
    std::optional<task_result> result;
    bool has_news = false;
    bool told = false;  ///< its result was handed out
  };

  explicit state(std::shared_ptr<runtime_link> to) : link{std::move(to)} {}

  void open(service::opened_volley& x) {
    id = x.id;
    run = x.run;
    for (auto& entry : x.tasks) {
      slot one;
      if (entry.ended) one.result = entry.result;
      slots.push_back(std::move(one));
      tasks.push_back(std::move(entry.request));
      if (slots.back().result) note(slots.size() - 1);
    }
  }

  // What comes in.
  void begun(std::size_t task, const run_opened& x) override {
    const std::lock_guard lock{mutex};
    slots[task].begun.push_back({x.run, x.session});
    note(task);
  }
  void over(const task_result& x) override {
    const std::lock_guard lock{mutex};
    slots[x.task].result = x;
    note(x.task);
  }
  void all_over(const std::optional<error>& why) override {
    end_handler done;
    {
      const std::lock_guard lock{mutex};
      closed = true;
      failure = why;
      done = std::exchange(when_over, {});
      news.notify_all();
    }
    if (done) done(results());
  }

  /// Once it is closed: nothing changes them any more.
  [[nodiscard]] expected<std::vector<task_result>> results() const {
    if (failure) return unexpected{*failure};
    std::vector<task_result> out;
    out.reserve(slots.size());
    for (const auto& one : slots) out.push_back(*one.result);
    return out;
  }

  /// Under the mutex.
  void note(std::size_t task) {
    if (std::exchange(slots[task].has_news, true)) return;
    waiting.push_back(task);
    news.notify_all();
  }

  // What goes out.
  std::optional<volley_update> next(duration limit) {
    const auto deadline = deadline_in(limit);
    std::unique_lock lock{mutex};
    for (;;) {
      while (!waiting.empty()) {
        const auto task = waiting.front();
        waiting.pop_front();
        slots[task].has_news = false;
        if (auto update = next_of(task, lock)) return update;
      }
      if (is_over()) return {};
      if (news.wait_until(lock, deadline) == std::cv_status::timeout &&
          waiting.empty())
        return {};
    }
  }

  std::optional<volley_update> next_of(std::size_t task,
                                       std::unique_lock<std::mutex>& lock) {
    auto& x = slots[task];
    if (x.events) {
      const auto from = x.events;
      lock.unlock();
      auto batch = from->next({});
      lock.lock();
      if (batch) {
        note(task);
        return volley_update{task, {}, std::move(batch), {}};
      }
      if (!from->finished) return {};  // it tells when there is more
      x.events.reset();
    }
    if (!x.begun.empty()) {
      auto run_begun = std::move(x.begun.front());
      x.begun.pop_front();
      x.events = std::make_shared<stream>(
          link, run_begun.run, 0, [me = weak_from_this(), task] {
            const auto self = me.lock();
            if (!self) return;
            const std::lock_guard inner{self->mutex};
            self->note(task);
          });
      note(task);
      return volley_update{task, std::move(run_begun), {}, {}};
    }
    if (!x.result || x.told) return {};
    x.told = true;
    ++told;
    return volley_update{task, {}, {}, x.result};
  }

  [[nodiscard]] bool is_over() const {
    return told == slots.size() || (closed && failure);
  }

  const std::shared_ptr<runtime_link> link;
  std::string id;
  std::vector<run_request> tasks;
  std::shared_ptr<service::volley_run> run;
  mutable std::mutex mutex;
  std::condition_variable news;
  std::vector<slot> slots;
  std::deque<std::size_t> waiting;  ///< tasks with news
  std::size_t told = 0;
  bool closed = false;
  std::optional<error> failure;
  end_handler when_over;
};

volley::volley(std::shared_ptr<state> impl) : impl_{std::move(impl)} {}
volley::~volley() {
  if (!impl_) return;
  std::vector<std::shared_ptr<state::stream>> open;
  {
    const std::lock_guard lock{impl_->mutex};
    for (auto& x : impl_->slots)
      if (x.events) open.push_back(std::move(x.events));
  }
  for (const auto& x : open) x->drop();
}
volley::volley(volley&&) noexcept = default;
volley& volley::operator=(volley&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

const std::string& volley::id() const noexcept { return impl_->id; }

const std::vector<run_request>& volley::tasks() const noexcept {
  return impl_->tasks;
}

std::optional<volley_update> volley::next(duration limit) {
  return impl_->next(limit);
}

bool volley::ended() const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->is_over();
}

std::optional<error> volley::failure() const {
  const std::lock_guard lock{impl_->mutex};
  return impl_->failure;
}

void volley::cancel(std::string reason) const {
  impl_->run->cancel(std::move(reason));
}

void volley::cancel(std::size_t task, std::string reason) const {
  if (task < impl_->tasks.size()) impl_->run->cancel(task, std::move(reason));
}

expected<std::vector<task_result>> volley::wait(duration limit) {
  const auto deadline = deadline_in(limit);
  auto& x = *impl_;
  std::unique_lock lock{x.mutex};
  const bool over =
      x.news.wait_until(lock, deadline, [&x] { return x.closed; });
  if (!over)
    return unexpected{
        error{errc::timeout, "volley", "the volley has not ended yet"}};
  return x.results();
}

void volley::on_end(end_handler done) {
  auto& x = *impl_;
  {
    const std::lock_guard lock{x.mutex};
    if (!x.closed) {
      x.when_over = std::move(done);
      return;
    }
  }
  if (done) done(x.results());
}

expected<volley> runtime::start_volley(volley_request request) {
  const auto listener = std::make_shared<volley::state>(impl_->link);
  auto opened = impl_->uses->volleys.open(std::move(request),
                                          impl_->owner->ids(), listener);
  if (!opened) return unexpected{std::move(opened.error())};
  listener->open(*opened);
  opened->begin();
  return volley{listener};
}

expected<volley> runtime::resume_volley(const std::string& id,
                                        resume_options options) {
  const auto listener = std::make_shared<volley::state>(impl_->link);
  auto opened = impl_->uses->volleys.reopen(id, std::move(options), listener);
  if (!opened) return unexpected{std::move(opened.error())};
  listener->open(*opened);
  opened->begin();
  return volley{listener};
}

}  // namespace riffle
