// SPDX-License-Identifier: MIT
#include "runtime/api/readers.hpp"

#include <utility>

#include "runtime/base/job_tail.hpp"
#include "runtime/base/log.hpp"
#include "runtime/service/run_end.hpp"

namespace riffle {

namespace {

/// A page of the journal, and the most that a stream holds for its reader.
constexpr std::size_t page_bytes = 256u << 10;
constexpr std::size_t queue_bytes = 1u << 20;

constexpr const char* op = "run";

/// A limit that can be added to any time.
duration bounded(duration limit) {
  constexpr duration longest = std::chrono::hours{24 * 365};
  return limit < longest ? limit : longest;
}

run_outcome to_outcome(service::run_end& x) {
  const auto& end = x.finished;
  run_outcome out;
  out.answer = std::move(x.answer);
  out.truncated = x.truncated;
  out.status = end.status;
  out.failure = end.err;
  out.steps = end.steps;
  out.tool_calls = end.tool_calls;
  out.usage = end.usage;
  out.duration_ms = end.duration_ms;
  return out;
}

}  // namespace

// -- called -------------------------------------------------------------------

handler_reader::handler_reader(std::shared_ptr<runtime_link> link, run_id run,
                               session_id session, event_handler handler)
    : link_{std::move(link)},
      run_{std::make_shared<const run_id>(std::move(run))},
      session_{std::move(session)},
      handler_{std::move(handler)} {}

void handler_reader::cancel_on(const std::stop_token& token) {
  if (!token.stop_possible()) return;
  auto made = std::make_unique<stop_callback>(
      token, [link = link_, id = *run_] { link->cancel(id, "asked to stop"); });
  std::lock_guard lock{mutex_};
  if (!outcome_) stopper_ = std::move(made);
}

std::uint64_t handler_reader::position() const {
  std::lock_guard lock{mutex_};
  return position_;
}

bool handler_reader::offer(const storage::event_block& block) {
  if (dropped_) return false;
  take(block);
  return true;
}

void handler_reader::drop() { dropped_ = true; }

/// Blocks on the journal, so not on the caller's thread.
void handler_reader::behind() {
  link_->submit([me = shared_from_this()] { me->pull(); });
}

void handler_reader::pull() {
  std::lock_guard one{pulling_};
  const bool gone = gone_;  // before the last page is read
  for (;;) {
    auto page = link_->journal().read_events(*run_, position(), page_bytes);
    if (!page) return finish(unexpected{std::move(page.error())});
    for (const auto& block : page->blocks) take(block);
    if (page->end || page->blocks.empty()) break;
  }
  {
    std::lock_guard lock{mutex_};
    if (outcome_ || dropped_) return;
  }
  if (gone)
    return finish(
        unexpected{error{errc::interrupted, op,
                         "the run is not active and its log has no end"}});
  link_->attach(*run_, shared_from_this());
}

void handler_reader::take(const storage::event_block& block) {
  {
    std::lock_guard lock{mutex_};
    position_ = block.last_seq;
  }
  if (handler_) call(block);
  if (!service::is_last(block)) return;
  handler_ = nullptr;  // and with it what it holds
  note_end(*block.lines);
}

/// What a handler throws must not reach the actor that offers.
void handler_reader::call(const storage::event_block& block) {
  if (!link_->enter_handler()) return;
  end_job_tail();
  std::string thrown;
  try {
    handler_({run_, block});
  } catch (const std::exception& e) {
    thrown = e.what();
    handler_ = nullptr;
  } catch (...) {
    thrown = "something that is no std::exception";
    handler_ = nullptr;
  }
  link_->leave_handler();
  if (!thrown.empty())
    log_error(op, run_->value +
                      ": its event handler threw and is not called "
                      "again: " +
                      thrown);
}

void handler_reader::note_end(std::string_view lines) {
  auto end = service::read_end(lines);
  if (!end) return finish(unexpected{std::move(end.error())});
  auto out = to_outcome(*end);
  out.run = *run_;
  out.session = session_;
  finish(std::move(out));
}

void handler_reader::closed(const std::optional<error>& why) {
  if (why) return finish(unexpected{*why});
  {
    std::lock_guard lock{mutex_};
    if (outcome_) return;
  }
  gone_ = true;  // it ended while this reader was behind
  link_->submit([me = shared_from_this()] { me->pull(); });
}

void handler_reader::finish(expected<run_outcome> how) {
  std::unique_ptr<stop_callback> over;
  run::end_handler done;
  std::unique_lock lock{mutex_};
  if (!outcome_) outcome_ = std::move(how);
  over = std::move(stopper_);
  done = std::exchange(when_over_, {});
  ended_.notify_all();
  lock.unlock();
  if (done) done(*outcome_);  // nothing changes it any more
}

void handler_reader::on_end(run::end_handler done) {
  {
    const std::lock_guard lock{mutex_};
    if (!outcome_) {
      when_over_ = std::move(done);
      return;
    }
  }
  if (done) done(*outcome_);
}

std::optional<expected<run_outcome>> handler_reader::wait(duration limit) {
  std::unique_lock lock{mutex_};
  ended_.wait_for(lock, bounded(limit),
                  [this] { return outcome_.has_value(); });
  return outcome_;
}

// -- asked --------------------------------------------------------------------

event_stream::state::state(std::shared_ptr<runtime_link> to, run_id id,
                           std::uint64_t after, std::function<void()> on_news)
    : link{std::move(to)},
      run{std::make_shared<const run_id>(std::move(id))},
      end_of_queue{after},
      on_news_{std::move(on_news)} {}

void event_stream::state::tell_news() {
  news.notify_one();
  if (on_news_) on_news_();
}

std::uint64_t event_stream::state::position() const {
  std::lock_guard lock{mutex};
  return end_of_queue;
}

bool event_stream::state::offer(const storage::event_block& block) {
  std::lock_guard lock{mutex};
  if (dropped) return false;
  // What comes while a page is read may be in that page, too.
  if (pulling || bytes > queue_bytes || block.first_seq != end_of_queue + 1) {
    must_pull = true;
    tell_news();
    return false;
  }
  bytes += block.lines->size();
  end_of_queue = block.last_seq;
  queue.push_back(block);
  tell_news();
  return true;
}

void event_stream::state::behind() {
  std::lock_guard lock{mutex};
  must_pull = true;
  tell_news();
}

void event_stream::state::closed(const std::optional<error>& why) {
  std::lock_guard lock{mutex};
  no_more = must_pull = true;
  if (why && !finished) failure = why;
  tell_news();
}

std::optional<event_batch> event_stream::state::next(duration limit) {
  const auto deadline = std::chrono::steady_clock::now() + bounded(limit);
  std::unique_lock lock{mutex};
  for (;;) {
    if (!queue.empty()) return pop();
    if (finished) return {};
    if (must_pull) {
      pull(lock);
      continue;
    }
    if (news.wait_until(lock, deadline) == std::cv_status::timeout &&
        queue.empty() && !must_pull)
      return {};
  }
}

std::optional<event_batch> event_stream::state::pop() {
  auto block = std::move(queue.front());
  queue.pop_front();
  bytes -= block.lines->size();
  if (service::is_last(block)) {
    finished = true;
    failure.reset();  // whatever came behind its end
  }
  return event_batch{run, std::move(block)};
}

/// Reads a page; at the end of the journal asks to be live again.
void event_stream::state::pull(std::unique_lock<std::mutex>& lock) {
  must_pull = false;
  pulling = true;
  const auto after = end_of_queue;
  const bool closed_before = no_more;
  lock.unlock();
  auto page = link->journal().read_events(*run, after, page_bytes);
  lock.lock();
  pulling = false;
  if (!page) {
    if (!failure) failure = std::move(page.error());
    finished = true;
    return;
  }
  for (auto& block : page->blocks) {
    bytes += block.lines->size();
    end_of_queue = block.last_seq;
    queue.push_back(std::move(block));
  }
  if (!queue.empty()) {
    must_pull = !page->end || closed_before;
    if (must_pull || service::is_last(queue.back())) return;
  } else if (closed_before) {
    finished = true;
    return;
  }
  attach(lock);
}

/// Without a runtime nothing more comes; the next page says whether the run
/// had ended.
void event_stream::state::attach(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  const bool attached = link->attach(*run, shared_from_this());
  lock.lock();
  if (!attached) no_more = must_pull = true;
}

bool event_stream::state::gone() const {
  std::lock_guard lock{mutex};
  return dropped;
}

void event_stream::state::drop() {
  std::deque<storage::event_block> unread;
  std::lock_guard lock{mutex};
  dropped = true;
  unread.swap(queue);
}

event_stream::event_stream(std::shared_ptr<state> impl)
    : impl_{std::move(impl)} {}
event_stream::~event_stream() {
  if (impl_) impl_->drop();
}
event_stream::event_stream(event_stream&&) noexcept = default;
event_stream& event_stream::operator=(event_stream&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

std::optional<event_batch> event_stream::next(duration limit) {
  return impl_->next(limit);
}

bool event_stream::ended() const noexcept { return impl_->finished; }

std::optional<error> event_stream::failure() const {
  std::lock_guard lock{impl_->mutex};
  return impl_->failure;
}

}  // namespace riffle
