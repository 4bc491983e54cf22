// SPDX-License-Identifier: MIT
#include "runtime/model/http_loop.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <new>
#include <poll.h>
#include <sys/epoll.h>
#include <system_error>
#include <utility>

#include "runtime/base/metrics.hpp"
#include "runtime/model/http_error.hpp"

namespace riffle::model {

namespace {

using steady = std::chrono::steady_clock;

constexpr auto never = time_point::max();

error cancelled() {
  return {
      errc::cancelled, "model request", "the request was cancelled", false, {}};
}

int curl_events(std::uint32_t events) {
  int out = 0;
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
    out |= CURL_CSELECT_IN;
  }
  if ((events & EPOLLOUT) != 0) {
    out |= CURL_CSELECT_OUT;
  }
  return out;
}

void watch(int epoll, int operation, int fd, std::uint32_t events) {
  epoll_event x{};
  x.events = events;
  x.data.fd = fd;
  ::epoll_ctl(epoll, operation, fd, &x);
}

}  // namespace

http_loop::http_loop(const http_options& options, http_mailbox& mailbox)
    : mailbox_{mailbox},
      around_{options.around_listeners},
      epoll_{::epoll_create1(EPOLL_CLOEXEC)},
      pool_{options},
      multi_{curl_multi_init()} {
  if (epoll_.get() < 0) {
    throw std::system_error{errno, std::generic_category(), "epoll"};
  }
  if (!multi_) {
    throw std::bad_alloc{};
  }
  auto* m = multi_.get();
  curl_multi_setopt(m, CURLMOPT_SOCKETFUNCTION, &http_loop::on_socket);
  curl_multi_setopt(m, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(m, CURLMOPT_TIMERFUNCTION, &http_loop::on_timer);
  curl_multi_setopt(m, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(m, CURLMOPT_MAXCONNECTS,
                    static_cast<long>(options.max_idle_connections));
  // One transfer at a time on a connection, also with HTTP/2: a paused
  // transfer must not stop others, nor be sent a whole window of bytes.
  curl_multi_setopt(m, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
  watch(epoll_.get(), EPOLL_CTL_ADD, mailbox_.fd(), EPOLLIN);
}

void http_loop::run() {
  while (!mailbox_.stopping()) {
    wait();
    if (around_)
      around_([this] { do_round(); });
    else
      do_round();
  }
  end_all();
}

/// All that calls listeners.
void http_loop::do_round() {
  if (act_on_sockets()) {
    obey();
  }
  if (curl_due_ && *curl_due_ <= now_) {
    curl_due_.reset();
    act(CURL_SOCKET_TIMEOUT, 0);
    pass_news();
  }
  reap();
  enforce_limits();
}

/// Milliseconds until curl or a limit needs us; -1: only sockets do.
int http_loop::wait_limit() const {
  auto due = curl_due_.value_or(never);
  if (!deadlines_.empty()) {
    due = std::min(due, deadlines_.begin()->first);
  }
  if (due == never) {
    return -1;
  }
  auto left = std::chrono::ceil<std::chrono::milliseconds>(due - steady::now());
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, most));
}

/// Lets reads gather for a moment; a command ends it.
void http_loop::gather() const {
  pollfd commands{mailbox_.fd(), POLLIN, 0};
  const timespec pause{0, read_coalescer::pause.count()};
  ::ppoll(&commands, 1, &pause, nullptr);
}

void http_loop::wait() {
  if (gatherer_.should_gather()) {
    gather();
  }
  const auto n = ::epoll_wait(epoll_.get(), events_.data(),
                              static_cast<int>(events_.size()), wait_limit());
  ready_ = static_cast<std::size_t>(std::max(n, 0));
  now_ = steady::now();
}

/// True if there are commands.
bool http_loop::act_on_sockets() {
  bool commands = false;
  for (std::size_t i = 0; i < ready_; ++i) {
    const auto& x = events_[i];
    if (x.data.fd == mailbox_.fd()) {
      mailbox_.clear_wake();
      commands = true;
    } else {
      act(x.data.fd, curl_events(x.events));
    }
  }
  // Once for the whole round: a reader that is woken by its first piece and
  // asleep again before the second costs more than the pieces.
  pass_news();
  gatherer_.on_round(ready_, transfers_.size(), now_);
  return commands;
}

void http_loop::act(curl_socket_t fd, int events) {
  int running = 0;
  curl_multi_socket_action(multi_.get(), fd, events, &running);
}

/// Passes on what curl's work brought. No transfer ends here: what listeners
/// ask for waits in the mailbox.
void http_loop::pass_news() {
  std::swap(news_, round_);
  for (auto* x : round_.connected) {
    x->clock.on_connected(now_);
    schedule(*x);
  }
  for (auto* x : round_.received) {
    x->clock.on_bytes(now_);
    tend(*x);
  }
  round_.connected.clear();
  round_.received.clear();
}

/// Delivers. Without credit the clock stops at once, reading when there is
/// something to hold: so an end that follows the last byte still arrives.
void http_loop::tend(http_transfer& x) {
  x.deliver();
  if (x.starved()) {
    x.clock.pause(now_);
  }
  if (x.holds_bytes()) {
    measure(metric::model_stalls, 1, {});
    curl_easy_pause(x.easy(), CURLPAUSE_RECV);
  }
  schedule(x);
}

void http_loop::obey() {
  for (auto& command : mailbox_.take()) {
    std::visit([this](auto& x) { obey(x); }, command);
  }
}

void http_loop::obey(http_mailbox::open_command& command) {
  auto id = command.id;
  auto& x = *(transfers_[id] = std::make_unique<http_transfer>(
                  std::move(command), now_, news_));
  if (auto rejection = x.rejection()) {
    end(x, {0, std::move(rejection), {}, {}});
    return;
  }
  auto easy = pool_.take();
  if (!easy) {
    end(x, {0, curl_error(CURLE_OUT_OF_MEMORY, 0, {}), {}, {}});
    return;
  }
  x.attach(std::move(easy));
  auto added = curl_multi_add_handle(multi_.get(), x.easy());
  if (added != CURLM_OK) {
    end(x, {0,
            curl_error(CURLE_FAILED_INIT, 0, curl_multi_strerror(added)),
            {},
            {}});
    return;
  }
  schedule(x);
}

void http_loop::obey(http_mailbox::resume_command& command) {
  auto i = transfers_.find(command.id);
  if (i == transfers_.end()) {
    return;
  }
  auto& x = *i->second;
  x.deliver();
  if (x.holds_bytes()) {
    return;
  }
  if (x.ended) {
    end(x, std::move(*x.ended));
    return;
  }
  if (!x.starved()) {
    x.clock.resume(now_);
    schedule(x);
  }
  curl_easy_pause(x.easy(), CURLPAUSE_CONT);
  pass_news();
}

void http_loop::obey(http_mailbox::cancel_command& command) {
  auto i = transfers_.find(command.id);
  if (i != transfers_.end()) {
    end(*i->second, {i->second->status(), cancelled(), {}, {}});
  }
}

void http_loop::enforce_limits() {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now_) {
    auto& x = *deadlines_.begin()->second;
    deadlines_.erase(deadlines_.begin());
    x.scheduled = never;
    auto due = x.clock.next();
    if (due && due->at <= now_) {
      end(x, x.conclude(limit_error(due->limit, x.limits())));
    } else {
      schedule(x);
    }
  }
}

/// Sees to it that the transfer is looked at when its next limit is due.
void http_loop::schedule(http_transfer& x) {
  auto due = x.clock.next();
  if (due && due->at < x.scheduled) {
    deadlines_.erase({x.scheduled, &x});
    x.scheduled = due->at;
    deadlines_.insert({x.scheduled, &x});
  }
}

void http_loop::reap() {
  int left = 0;
  while (auto* message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) {
      continue;
    }
    char* self = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &self);
    auto& x = *reinterpret_cast<http_transfer*>(self);
    auto how = x.conclude(x.failure(message->data.result));
    release(x);
    if (x.holds_bytes()) {
      x.clock.pause(now_);
      x.ended = std::move(how);
    } else {
      end(x, std::move(how));
    }
  }
}

/// Gives the handle back; the connection stays for the next request, unless
/// the answer was cut short.
void http_loop::release(http_transfer& x) {
  if (x.easy() != nullptr) {
    curl_multi_remove_handle(multi_.get(), x.easy());
    std::erase(news_.connected, &x);
    std::erase(news_.received, &x);
    pool_.give(x.detach());
  }
}

void http_loop::end(http_transfer& x, transport_end how) {
  release(x);
  deadlines_.erase({x.scheduled, &x});
  mailbox_.forget(x.id());
  auto node = transfers_.extract(x.id());
  node.mapped()->tell_end(std::move(how));
}

void http_loop::end_all() {
  for (;;) {
    for (auto& command : mailbox_.take()) {
      if (auto* x = std::get_if<http_mailbox::open_command>(&command)) {
        auto id = x->id;
        transfers_[id] =
            std::make_unique<http_transfer>(std::move(*x), now_, news_);
      }
    }
    if (transfers_.empty()) {
      return;
    }
    end(*transfers_.begin()->second, {0, cancelled(), {}, {}});
  }
}

int http_loop::on_socket(CURL*, curl_socket_t fd, int what, void* self,
                         void* known) {
  auto& loop = *static_cast<http_loop*>(self);
  if (what == CURL_POLL_REMOVE) {
    watch(loop.epoll_.get(), EPOLL_CTL_DEL, fd, 0);
    return 0;
  }
  std::uint32_t events = 0;
  if ((what & CURL_POLL_IN) != 0) {
    events |= EPOLLIN;
  }
  if ((what & CURL_POLL_OUT) != 0) {
    events |= EPOLLOUT;
  }
  watch(loop.epoll_.get(), known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd,
        events);
  if (known == nullptr) {
    curl_multi_assign(loop.multi_.get(), fd, self);
  }
  return 0;
}

int http_loop::on_timer(CURLM*, long ms, void* self) {
  auto& loop = *static_cast<http_loop*>(self);
  if (ms < 0) {
    loop.curl_due_.reset();
  } else {
    // "At once" is this round, without another look at the clock.
    auto from = ms == 0 ? loop.now_ : steady::now();
    loop.curl_due_ = from + std::chrono::milliseconds{ms};
  }
  return 0;
}

}  // namespace riffle::model
